/**
 * Every screen passes axe, best practices included, as an administrator, an agent and a requester, in light and dark, without
 * errors and without scrolling sideways.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AGENT, REQUESTER } from '../support/console-seed.ts';
import {
  findings,
  type Login,
  screenLoaded,
  screensOf,
  showScreen,
  startConsole,
  type TestConsole,
} from '../support/console.ts';

const WORK = screensOf('screens.ts', '/work');
const ADMIN = screensOf('admin/screens.ts', '/admin');
const NEW = ['types', 'workflows', 'relations', 'services', 'catalogs', 'calendars', 'sla', 'bases', 'roles'];
const DETAILS = [
  ...NEW.map((own) => `/admin/${own}/new`),
  '/admin/types/incident',
  '/admin/workflows/incident',
  '/admin/roles/agent',
  '/admin/people/new',
  '/admin/groups/new',
  '/admin/units/new',
  '/admin/keys/new',
  '/admin/imports/new',
];

describe('accessibility', () => {
  let desk: TestConsole;
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  const walk = async (login: Login, language: 'ru-RU' | 'en-US', paths: readonly string[]): Promise<void> => {
    const [first = '/', ...rest] = paths;
    const { page, check, close } = await desk.open(login, first, { language });
    await screenLoaded(page);
    const found: string[] = [];
    const look = async (own: string): Promise<void> => {
      for (const finding of await findings(page)) found.push(`${own}: ${finding}`);
      if ((await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) > 0)
        found.push(`${own}: sticks out`);
    };
    await look(first);
    for (const own of rest) {
      await showScreen(page, own);
      await look(own);
    }
    // Only colours differ in the dark scheme.
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
    for (const own of paths) {
      await showScreen(page, own);
      for (const finding of await findings(page, ['color-contrast'])) found.push(`${own} (dark): ${finding}`);
    }
    assert.deepEqual(found, []);
    await check();
    await close();
  };

  it('holds on every screen of an administrator', () => walk('admin', 'en-US', ['/', '/admin', ...ADMIN]));

  it('holds on the forms of an administrator', () => walk('admin', 'ru-RU', DETAILS));

  it('holds on every screen of an agent', () =>
    walk(AGENT, 'en-US', [
      '/',
      `/records/${desk.seeded.incident}`,
      '/records?type=incident',
      '/new/incident',
      '/search?q=почта',
      '/account',
      '/notifications',
      '/notifications/settings',
      ...WORK,
    ]));

  it('holds on every screen of a requester', () =>
    walk(REQUESTER, 'ru-RU', [
      '/',
      '/portal/report',
      '/portal/requests',
      '/portal/articles',
      '/account',
      '/notifications',
    ]));
});

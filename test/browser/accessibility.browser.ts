/** Every screen passes axe, best practices included, as an administrator, an agent and a requester, in light and dark. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AGENT, REQUESTER } from '../harness/console-seed.ts';
import { findings, type Login, startConsole, type TestConsole } from '../harness/console.ts';
import { ROOT } from '../harness/source-files.ts';

/** The paths of a table of screens. */
function screensOf(file: string, prefix: string): string[] {
  const text = readFileSync(path.join(ROOT, 'web/src', file), 'utf8');
  const paths = [...text.matchAll(/^ {4}path: '([a-z-]+)',$/gm)].map(([, own]) => `${prefix}/${own}`);
  assert.ok(paths.length > 1, `${file} has a table of screens`);
  return paths;
}

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
  '/admin/imports/definitions/new',
];

describe('accessibility', () => {
  let desk: TestConsole;
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  const walk = async (login: Login, language: 'ru-RU' | 'en-US', paths: readonly string[]): Promise<void> => {
    const { page, close } = await desk.open(login, '/', { language });
    const found: string[] = [];
    for (const own of paths) {
      await page.goto(desk.url + own);
      await page.locator('h1').first().waitFor();
      await page.locator('.mantine-Skeleton-root, .mantine-Loader-root').first().waitFor({ state: 'detached' });
      for (const finding of await findings(page)) found.push(`${own}: ${finding}`);
      // Only colours differ in the dark scheme.
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
      await page.waitForTimeout(100);
      for (const finding of await findings(page, ['color-contrast'])) found.push(`${own} (dark): ${finding}`);
      await page.emulateMedia({ colorScheme: 'light' });
    }
    await close();
    assert.deepEqual(found, []);
  };

  it('holds on every screen of an administrator', () => walk('admin', 'ru-RU', ['/', '/admin', ...ADMIN]));

  it('holds on the forms of an administrator', () => walk('admin', 'en-US', DETAILS));

  it('holds on every screen of an agent', () =>
    walk(AGENT, 'en-US', [
      '/',
      '/records?type=incident',
      `/records/${desk.seeded.incident}`,
      '/new/incident',
      '/search?q=почта',
      '/account',
      ...WORK,
    ]));

  it('holds on every screen of a requester', () =>
    walk(REQUESTER, 'ru-RU', ['/', '/portal/report', '/portal/requests', '/portal/articles', '/account']));
});

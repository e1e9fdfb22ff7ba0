/**
 * Photographs every screen of the console, with something on each of them, to be looked at: in four sizes, two colours and two
 * languages (`npm run gallery -- --out /tmp/gallery [--only REGEX] [--shots REGEX]`). A picture is
 * SCREEN.SIZE.COLOURS.LANGUAGE.png, as high as the page; what sticks out of its width, and what the page complains about, is
 * printed.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { addSampleData, type SampleData } from '../test/support/console-sample-data.ts';
import type { Seeded } from '../test/support/console-seed.ts';
import { type Language, type Login, type PageOptions, startConsole } from '../test/support/console.ts';
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts';

interface Screen {
  name: string;
  path: string;
  login?: Login | null;
  /** Actions before the screenshot. */
  act?: (page: Page) => Promise<void>;
}

const click = (name: string | RegExp) => async (page: Page) => {
  await page.getByRole('button', { name }).first().click();
  await page.waitForTimeout(400);
};

function screens({ incident, incidents, people }: Seeded, life: SampleData): Screen[] {
  return [
    { name: 'sign-in', path: '/sign-in', login: null },
    { name: 'records', path: '/records' },
    { name: 'incidents', path: '/records?type=incident' },
    { name: 'archive', path: '/records?state=ARCHIVED' },
    {
      name: 'list-bulk',
      path: '/records?type=incident',
      act: async (page) => {
        await page.getByRole('grid').focus();
        for (const key of ['x', 'j', 'x']) await page.keyboard.press(key);
      },
    },
    { name: 'list-columns', path: '/records?type=incident', act: click(/^(Столбцы|Columns)$/) },
    { name: 'list-filter', path: '/records?type=incident', act: click(/^(Условие|Condition)$/) },
    { name: 'search-empty', path: '/search' },
    { name: 'search', path: '/search?q=почта' },
    { name: 'search-none', path: '/search?q=xyzzyx' },
    { name: 'record', path: `/records/${incident}` },
    { name: 'record-files', path: `/records/${incident}?tab=files` },
    { name: 'record-relations', path: `/records/${incident}?tab=relations` },
    {
      name: 'record-graph',
      path: `/records/${incident}?tab=relations`,
      act: async (page) => {
        await page.getByText(/^(Графом|Graph)$/).click();
        await page.waitForTimeout(800);
      },
    },
    { name: 'record-history', path: `/records/${incident}?tab=history` },
    { name: 'record-resolve', path: `/records/${incident}`, act: click(/^(Решить|Resolve)/) },
    {
      name: 'record-limit',
      path: `/records/${incident}`,
      act: async (page) => {
        await page
          .getByRole('button', { name: /^(Почему так|Why so)\?/ })
          .last()
          .click();
        await page.waitForTimeout(1500);
      },
    },
    { name: 'record-new', path: `/records/${incidents[1]}` },
    { name: 'record-requester', path: `/records/${incident}`, login: 'ivanova' },
    { name: 'record-none', path: '/records/00000000-0000-4000-8000-000000000000' },
    { name: 'new', path: '/new/incident' },
    { name: 'record-notifications', path: `/records/${incident}/notifications` },
    { name: 'notifications', path: '/notifications', login: 'petrova' },
    { name: 'notification-settings', path: '/notifications/settings' },
    { name: 'account', path: '/account' },
    { name: 'dashboards', path: '/work/dashboards', login: 'kim' },
    { name: 'portal', path: '/portal', login: 'ivanova' },
    { name: 'portal-request', path: `/portal/requests/${incident}`, login: 'ivanova' },
    { name: 'nowhere', path: '/nowhere' },
    { name: 'requester-home', path: '/records', login: 'ivanova' },
    { name: 'catalogue', path: '/work/catalogue' },
    {
      name: 'catalogue-request',
      path: '/work/catalogue',
      act: async (page) => {
        await page
          .getByText(/^(Доступ к VPN|VPN access)$/)
          .first()
          .click();
        await page.waitForTimeout(400);
      },
    },
    { name: 'knowledge', path: '/work/knowledge' },
    { name: 'knowledge-read', path: '/work/knowledge/read' },
    { name: 'knowledge-article', path: `/work/knowledge/articles/${life.article}` },
    { name: 'knowledge-write', path: '/work/knowledge/write' },
    { name: 'knowledge-draft', path: `/work/knowledge/versions/${life.draft}` },
    { name: 'admin', path: '/admin' },
    ...[
      'types',
      'workflows',
      'relations',
      'people',
      'groups',
      'units',
      'roles',
      'services',
      'catalogs',
      'calendars',
      'sla',
      'keys',
      'keys/new',
      'webhooks',
      'webhooks/secrets',
      'integrations',
      'imports',
      'exports',
      'macros',
      'synonyms',
      'rules',
      'rules/new',
      'rules/notify-network',
      'rules/notify-network/runs',
      'rules/_map',
      'dashboards',
      'mail',
      'mail/sent',
      'bases',
      'audit',
      'health',
      'configuration',
      'settings',
      'types/incident',
      'workflows/incident',
      'relations/new',
      'people/new',
      'roles/agent',
      'services/mail',
      'catalogs/main',
      'calendars/office',
      'sla/incident-resolution',
      'sla/_try',
      'bases/it',
      'types/new',
      'groups/network',
      'imports/new',
      'groups/new',
    ].map((place) => ({ name: `admin-${place.replaceAll('/', '-')}`, path: `/admin/${place}` })),
    { name: 'admin-person', path: `/admin/people/${people['petrova']}` },
    { name: 'admin-explain', path: `/admin/roles/_person/${people['petrova']}/${incident}` },
    { name: 'admin-explain-no', path: `/admin/roles/_person/${people['guliev']}/${incident}` },
    { name: 'admin-webhook', path: `/admin/webhooks/subscriptions/${life.webhook}` },
    { name: 'admin-integration', path: `/admin/integrations/${life.integration}` },
    { name: 'admin-import', path: `/admin/imports/definitions/${life.importDefinition}` },
    { name: 'admin-import-edit', path: `/admin/imports/definitions/${life.importDefinition}/edit` },
    {
      name: 'admin-problems',
      path: '/admin/relations/new',
      act: async (page) => {
        await page.getByRole('textbox', { name: /^(Код|Code)/ }).fill('Не код');
        await page.waitForTimeout(1500);
      },
    },
    { name: 'admin-import-run', path: `/admin/imports/runs/${life.importRun}` },
  ];
}

const SIZES = {
  phone: { width: 390, height: 844 },
  laptop: { width: 1280, height: 800 },
  wide: { width: 1440, height: 900 },
  large: { width: 1920, height: 1080 },
} as const;

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'gallery' },
    only: { type: 'string', default: '' },
    shots: { type: 'string', default: '' },
  },
});
await globalSetup();
const desk = await startConsole().catch(async (error: unknown) => {
  await globalTeardown();
  throw error;
});
try {
  const life = await addSampleData(desk);
  await mkdir(values.out, { recursive: true });
  const chosen = screens(desk.seeded, life).filter(({ name }) => new RegExp(values.only).test(name));
  for (const [size, box] of Object.entries(SIZES))
    for (const scheme of ['light', 'dark'] as const)
      for (const language of ['ru-RU', 'en-US'] as const satisfies Language[]) {
        const shot = `${size}.${scheme}.${language.slice(0, 2)}`;
        if (!new RegExp(values.shots).test(shot)) continue;
        await photograph(chosen, shot, { ...box, scheme, language });
      }
} finally {
  await desk.close();
  await globalTeardown();
}

/** Each user signs in once and visits the screens. */
async function photograph(chosen: readonly Screen[], shot: string, options: PageOptions): Promise<void> {
  for (const login of ['admin', 'petrova', 'kim', 'ivanova', null] as const) {
    const own = chosen.filter((screen) => (screen.login === undefined ? 'admin' : screen.login) === login);
    if (own.length === 0) continue;
    const { page, close } = await desk.open(login, '/', options);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) process.stdout.write(`! ${page.url()} ${message.text()}\n`);
    });
    for (const { name, path: place, act } of own) {
      await page.goto(desk.url + place);
      await page.waitForLoadState('networkidle');
      await page.locator('.mantine-Skeleton-root, .mantine-Loader-root').first().waitFor({ state: 'detached' });
      try {
        await act?.(page);
      } catch (error) {
        process.stdout.write(`! ${name} ${shot} ${String(error).split('\n')[0]}\n`);
      }
      await page.waitForTimeout(150);
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      if (wide > 0) process.stdout.write(`! ${name} ${shot} sticks out by ${wide}\n`);
      await page.screenshot({ path: path.join(values.out, `${name}.${shot}.png`), fullPage: true });
    }
    await close();
  }
}

/**
 * Makes the pictures of the documentation: starts the service with the built console and a small service desk, and photographs
 * it with Debian's chromium (`npm run screenshots`). With `pngquant` installed, the files are a third of the size.
 */
import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { AGENT, LEAD, REQUESTER } from '../test/support/console-seed.ts';
import { type Login, type PageOptions, startConsole } from '../test/support/console.ts';
import { addHistory, addPortal, HistoryClock } from './screenshots-data.ts';

const FOLDER = path.join(import.meta.dirname, '..', 'docs', 'images');

interface Picture extends PageOptions {
  name: string;
  login: Login;
  path: (seeded: { incident: string }) => string;
  /** Text that is there when the page is whole. */
  ready: string;
  /** The dashboard to show. */
  dashboard?: string;
}

const record = ({ incident }: { incident: string }): string => `/records/${incident}`;

const PICTURES: readonly Picture[] = [
  { name: 'portal-home', login: REQUESTER, path: () => '/portal', ready: 'Общий календарь отдела' },
  {
    name: 'portal-request',
    login: REQUESTER,
    path: ({ incident }) => `/portal/requests/${incident}`,
    ready: 'До вечера исправим',
    width: 390,
    height: 844,
  },
  { name: 'desk-list', login: AGENT, path: () => '/records?type=incident', ready: 'Забыт пароль' },
  { name: 'desk-record', login: AGENT, path: record, ready: 'До вечера исправим' },
  { name: 'desk-record-dark', login: AGENT, path: record, ready: 'До вечера исправим', scheme: 'dark' },
  { name: 'desk-search', login: AGENT, path: () => '/search?q=почта', ready: 'Не открывается почта' },
  {
    name: 'lead-dashboard',
    login: LEAD,
    path: () => '/work/dashboards',
    ready: 'Создано по дням',
    dashboard: 'Служба поддержки',
    height: 1100,
  },
  { name: 'lead-queue', login: LEAD, path: () => '/records?sla=overdue&sort=sla.dueAt&queue=overdue', ready: 'INC' },
  // Labels of transitions are drawn after the states have been measured.
  { name: 'admin-workflow', login: 'admin', path: () => '/admin/workflows/incident', ready: 'Взять в работу' },
  { name: 'admin-sla', login: 'admin', path: () => '/admin/sla/incident-resolution', ready: 'Пауза' },
];

test('screenshots', async () => {
  const clock = new HistoryClock();
  const desk = await startConsole({ clock, before: (call) => addHistory(call, clock) });
  try {
    await addPortal(desk);
    clock.moveTo(0);
    await mkdir(FOLDER, { recursive: true });
    for (const { name, login, path: place, ready, dashboard, ...options } of PICTURES) {
      const { page, close } = await desk.open(login, place(desk.seeded), options);
      if (dashboard !== undefined) {
        await page.getByRole('combobox', { name: 'Панель', exact: true }).click();
        await page.getByRole('option', { name: dashboard }).click();
      }
      await page.getByText(ready).first().waitFor();
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: path.join(FOLDER, `${name}.png`) });
      await close();
    }
  } finally {
    await desk.close();
  }
  compress();
});

function compress(): void {
  const files = PICTURES.map(({ name }) => path.join(FOLDER, `${name}.png`));
  try {
    execFileSync('pngquant', [
      '--force',
      '--skip-if-larger',
      '--ext',
      '.png',
      '--quality',
      '70-95',
      '--strip',
      ...files,
    ]);
  } catch (error) {
    console.warn('The pictures are not compressed: pngquant failed or is not installed.', error);
  }
}

/**
 * Makes the pictures of the documentation: starts the service with the built console and a small service desk, and photographs
 * it with Debian's chromium (`npm run screenshots`).
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type PageOptions, startConsole } from '../test/harness/console.ts';

const FOLDER = path.join(import.meta.dirname, '..', 'docs', 'images');

interface Picture extends PageOptions {
  name: string;
  path: (seeded: { incident: string }) => string;
  /** Text that is there when the page is whole. */
  ready: string;
}

const PICTURES: readonly Picture[] = [
  { name: 'desk-list', path: () => '/records?type=incident', ready: 'INC0000001' },
  { name: 'desk-record', path: ({ incident }) => `/records/${incident}`, ready: 'Похоже на то же' },
  {
    name: 'desk-record-dark',
    path: ({ incident }) => `/records/${incident}`,
    ready: 'Похоже на то же',
    scheme: 'dark',
  },
  {
    name: 'desk-record-phone',
    path: ({ incident }) => `/records/${incident}`,
    ready: 'Похоже на то же',
    width: 390,
    height: 844,
  },
  // Labels of transitions are drawn after the states have been measured.
  { name: 'admin-workflow', path: () => '/admin/workflows/incident', ready: 'Взять в работу' },
  { name: 'admin-sla', path: () => '/admin/sla/incident-resolution', ready: 'Пауза' },
  { name: 'desk-search', path: () => '/search?q=почта', ready: 'INC0000001' },
];

test('screenshots', async () => {
  const desk = await startConsole();
  try {
    await mkdir(FOLDER, { recursive: true });
    for (const { name, path: place, ready, ...options } of PICTURES) {
      const { page, close } = await desk.open('admin', place(desk.seeded), options);
      await page.getByText(ready).first().waitFor();
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: path.join(FOLDER, `${name}.png`) });
      await close();
    }
  } finally {
    await desk.close();
  }
});

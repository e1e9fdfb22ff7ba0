/**
 * Tries the guides as they are written: `npm run test:guides [-- NAME…]`. A service with the starter configuration is started in
 * a scratch folder; the fenced blocks of each guide that say so are carried out in order, and what they show must come true.
 *
 * - `sh run`: carried out by bash; variables that it exports stand in the blocks after it.
 * - `js run`: carried out by Node, with `@docket/client` at hand.
 * - `… file=NAME`: written to that file in the guide's folder.
 * - `text shows`, `json shows`: what the block before printed; `…` stands for anything, and JSON may hold more than is shown.
 */
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { docket, freePort, startService } from '../test/harness/fault-service.ts';

const root = path.resolve(import.meta.dirname, '..');

/** In this order; each stands alone. */
export const GUIDES = [
  'README.md',
  'client/README.md',
  'docs/guides/first-hour.md',
  'docs/guides/conflicts.md',
  'docs/guides/rights.md',
  'docs/guides/configuration-as-code.md',
  'docs/guides/import-cookbook.md',
  'docs/guides/receiving-webhooks.md',
  'docs/operating.md',
  'docs/upgrading.md',
  'docs/scaling.md',
];

export interface Block {
  language: string;
  words: string[];
  text: string;
  /** Of the fence. */
  line: number;
}

/** The fenced blocks of a page that are carried out, written or compared; others are for the eye. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  for (const found of page.matchAll(/^```(\S+) ([^\n]+)\n([^]*?)^```$/gm)) {
    const [whole, language = '', info = '', text = ''] = found;
    blocks.push({
      language,
      words: info.split(' '),
      text,
      line: page.slice(0, page.indexOf(whole)).split('\n').length,
    });
  }
  return blocks;
}

/** Whether the text is as shown, where `…` stands for anything. */
export function textFits(shown: string, text: string): boolean {
  const parts = shown
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*?')}$`).test(text.trim());
}

/** Whether the value holds what is shown; it may hold more. */
export function jsonFits(shown: unknown, value: unknown): boolean {
  if (typeof shown === 'string') return typeof value === 'string' ? textFits(shown, value) : shown === '…';
  if (typeof shown !== 'object' || shown === null) return shown === value;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(shown)) {
    return Array.isArray(value) && shown.length === value.length && shown.every((one, at) => jsonFits(one, value[at]));
  }
  return Object.entries(shown).every(([name, one]) => jsonFits(one, (value as Record<string, unknown>)[name]));
}

interface Stand {
  folder: string;
  env: Record<string, string>;
}

/** Carries out one guide. @returns what did not come true */
async function tryGuide(name: string, page: string, stand: Stand): Promise<string[]> {
  const folder = path.join(stand.folder, name.replaceAll(/[^a-z-]+/gi, '-'));
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  const state = path.join(folder, '.variables');
  await writeFile(state, '');
  let said = '';
  let count = 0;
  for (const { language, words, text, line } of blocksOf(page)) {
    const file = words.find((word) => word.startsWith('file='))?.slice('file='.length);
    const place = `${name}:${line}`;
    if (file !== undefined) {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
      await writeFile(path.join(folder, file), text);
    }
    if (words.includes('run')) {
      const program = language === 'sh' ? text : `node ${file ?? `block-${++count}.mjs`}`;
      if (language !== 'sh' && file === undefined) await writeFile(path.join(folder, `block-${count}.mjs`), text);
      const script = `set -eo pipefail; source ${state}\n${program}\nexport -p > ${state}\n`;
      const done = spawnSync('bash', ['-c', script], {
        cwd: folder,
        env: stand.env,
        encoding: 'utf8',
        timeout: 120_000,
      });
      said = done.stdout;
      if (done.status !== 0)
        return [`${place} ended with ${done.status}:\n${done.stderr.slice(-1500)}${said.slice(-500)}`];
    }
    if (words.includes('shows')) {
      let fits = false;
      try {
        fits = language === 'json' ? jsonFits(JSON.parse(text), JSON.parse(said)) : textFits(text, said);
      } catch {
        // What was printed is no JSON.
      }
      if (!fits) return [`${place} does not come true; printed was:\n${said.slice(0, 2000)}`];
    }
  }
  return [];
}

async function standUp(): Promise<Stand & { stop(): Promise<void> }> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'docket-guides-')));
  const own = {
    DOCKET_DATA_DIR: path.join(folder, 'data'),
    DOCKET_PORT: String(await freePort()),
    DOCKET_WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  const service = await startService(own);
  const bin = path.join(folder, 'bin');
  await mkdir(bin);
  const program = `exec "${process.execPath}" "${path.join(root, 'bin/docket.mjs')}" "$@"`;
  for (const [name, text] of [
    ['docket', program],
    ['npx', `shift; ${program}`],
  ] as const) {
    await writeFile(path.join(bin, name), `#!/bin/sh\n${text}\n`);
    await chmod(path.join(bin, name), 0o755);
  }
  // The sources of the client, as the package would be.
  const client = path.join(folder, 'client');
  await mkdir(client);
  await writeFile(
    path.join(client, 'package.json'),
    '{"name":"@docket/client","type":"module","exports":"./src/index.ts"}',
  );
  await symlink(path.join(root, 'client', 'src'), path.join(client, 'src'));
  await mkdir(path.join(folder, 'node_modules/@docket'), { recursive: true });
  await symlink(client, path.join(folder, 'node_modules/@docket/client'));
  const issued = await docket('keys create --owner admin --name guides --scopes all --json'.split(' '), own);
  const admin = await docket('keys create --owner admin --name guides --scopes admin:manage --json'.split(' '), own);
  const keyOf = (text: string): string => (JSON.parse(text) as { key: string }).key;
  const env = {
    ...own,
    PATH: `${bin}:${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    HOME: process.env['HOME'] ?? '/',
    DOCKET_URL: service.url,
    DOCKET_KEY: keyOf(issued.stdout),
    DOCKET_ADMIN_KEY: keyOf(admin.stdout),
  };
  const stop = async (): Promise<void> => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { folder, env, stop };
}

if (import.meta.main) {
  const wanted = process.argv.slice(2);
  const chosen = GUIDES.filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
  const stand = await standUp();
  try {
    for (const name of chosen) {
      const page = await readFile(path.join(root, name), 'utf8');
      const here = page.replaceAll('http://127.0.0.1:8080', stand.env['DOCKET_URL'] ?? '');
      const problems = await tryGuide(name, here, stand);
      process.stdout.write(
        `${problems.length === 0 ? 'holds' : 'FAILS'}  ${name}\n${problems.join('\n')}${problems.length === 0 ? '' : '\n'}`,
      );
      if (problems.length > 0) process.exitCode = 1;
    }
  } finally {
    await stand.stop();
  }
}

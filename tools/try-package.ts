/**
 * Tests the package as users install it: `npm pack`, installed into an empty folder, served from there on an embedded database,
 * with the console, a created record and a verified backup. `npm run test:package` takes a minute and needs a registry.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const READY_MS = 90_000;

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

function expect(truth: boolean, what: string): void {
  if (!truth) throw new Error(`not so: ${what}`);
  process.stdout.write(`ok  ${what}\n`);
}

/** What must and must not be in the package. */
async function look(installed: string): Promise<void> {
  for (const file of [
    'sbom.json',
    'SECURITY.md',
    'bin/docket.mjs',
    'dist/main.js',
    'web/dist/index.html',
    'db/migrations/0001-baseline.sql',
  ]) {
    expect(existsSync(path.join(installed, file)), `the package has ${file}`);
  }
  const files = await readdir(installed, { recursive: true });
  const own = files.filter((file) => !file.startsWith('node_modules'));
  expect(!own.some((file) => /\.test\.|^(?:src|test|data|tools)\//.test(file)), 'no sources, tests or data in it');
}

async function serving(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<{ url: string; stop(): Promise<number | null> }> {
  // As the unit of systemd starts and stops it: npx and its shell would end by the signal, regardless of the service.
  const child = spawn(path.join(folder, 'node_modules', '.bin', 'docket'), ['serve'], { cwd: folder, env });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const until = performance.now() + READY_MS;
  for (;;) {
    const url = /Docket answers at (http:\/\/\S+)/.exec(said)?.[1];
    if (url !== undefined) {
      const stop = async (): Promise<number | null> => {
        child.kill('SIGTERM');
        return await ended;
      };
      return { url, stop };
    }
    if (child.exitCode !== null || performance.now() > until) throw new Error(`it does not serve:\n${said}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
}

const folder = await mkdtemp(path.join(tmpdir(), 'docket-package-'));
try {
  const said = run('npm', ['pack', '--json', '--pack-destination', folder], root);
  // The output of its scripts comes first.
  const packed = JSON.parse(said.slice(said.search(/^[[{]/m))) as Record<string, { filename: string; size: number }>;
  const [made] = Object.values(packed);
  if (made === undefined) throw new Error('npm pack made nothing');
  process.stdout.write(`${made.filename}, ${Math.round(made.size / 1024)} KiB\n`);
  const empty = path.join(folder, 'empty');
  run('mkdir', ['-p', empty], folder);
  await writeFile(path.join(empty, 'package.json'), '{ "private": true }\n');
  const args = [
    'install',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    path.join(folder, path.basename(made.filename)),
  ];
  run('npm', args, empty);
  await look(path.join(empty, 'node_modules', 'docket'));
  const env = { ...process.env, DOCKET_PORT: '0', DOCKET_DATA_DIR: path.join(empty, 'data') };
  const service = await serving(empty, env);
  try {
    const created = ['docket', 'keys', 'create', '--owner', 'admin', '--name', 'first', '--scopes', 'all', '--json'];
    const { key } = JSON.parse(run('npx', created, empty, env)) as { key: string };
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ typeDefinitionId: 'incident', values: { title: 'from the package' } });
    const answer = await fetch(`${service.url}/api/v1/objects`, { method: 'POST', headers, body });
    expect(answer.status === 201, `a record is made (${answer.status} ${(await answer.text()).slice(0, 200)})`);
    const page = await fetch(`${service.url}/`);
    expect(page.status === 200 && (await page.text()).includes('<html'), 'the console is served');
    expect((await fetch(`${service.url}/docs`)).status === 200, 'the reference is served');
    run('npx', ['docket', 'backup', path.join(folder, 'b.docket')], empty, env);
    const verified = run('npx', ['docket', 'backup', 'verify', path.join(folder, 'b.docket'), '--json'], empty, env);
    const { checks } = JSON.parse(verified) as { checks: { ok: boolean }[] };
    expect(checks.length === 4 && checks.every(({ ok }) => ok), 'a backup is taken and verified');
    run('npx', ['docket', 'doctor'], empty, env);
    const commit = run('git', ['rev-parse', 'HEAD'], root).slice(0, 12);
    expect(run('npx', ['docket', '--version'], empty, env).includes(`(commit ${commit})`), 'it names its commit');
  } finally {
    const code = await service.stop();
    expect(code === 0, `it stops gracefully (${code})`);
  }
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
}

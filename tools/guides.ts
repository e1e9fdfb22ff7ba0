/**
 * Runs the guides like a reader: `npm run test:guides [-- NAME…]`, and with `--recipes` those that need programs of other
 * projects. The repository is cloned into a temporary folder, and the blocks of each page are run there in order. Only the system's programs are on the PATH.
 *
 * Blocks are marked after the language; others are not run:
 * - `install`: the first block of the README, `npm ci`.
 * - `serve`: starts the service, which then runs until the end.
 * - `sh run`: run by bash. Exported variables remain set for the following blocks.
 * - `… file=NAME`: written to that file in the clone. The text before the block must tell the reader to do so.
 * - `text shows`, `json shows`: the output of the previous block; `…` matches any text, and JSON may have more properties.
 *
 * The port 8080 is replaced by a free one. `--linked` uses the packages and the built console of this repository instead of
 * `npm ci`, to save time.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../test/proofs/fault-service.ts';

const root = path.resolve(import.meta.dirname, '..');
const READY_MS = 120_000;
const BLOCK_MS = 300_000;

/** Variables that commands or libraries of Docket read. */
const SETTING = /^(?:DOCKET_|DATABASE_|OTEL_|AWS_)/;
/** They name the service for all guides. */
const SHARED: ReadonlySet<string> = new Set(['DOCKET_URL', 'DOCKET_KEY']);

/** In this order. The README starts the service and sets the variables that the others use. */
export const GUIDES = [
  'README.md',
  'client/README.md',
  'docs/tutorial/first-hour.md',
  'docs/how-to/resolve-conflicts.md',
  'docs/how-to/let-a-script-change-things.md',
  'docs/how-to/grant-rights.md',
  'docs/how-to/configuration-as-code.md',
  'docs/how-to/rename-a-field.md',
  'docs/how-to/route-incidents.md',
  'docs/how-to/see-who-is-notified.md',
  'docs/how-to/send-to-chat.md',
  'docs/how-to/receive-from-chat.md',
  'docs/how-to/import-a-file.md',
  'docs/how-to/receive-mail.md',
  'docs/how-to/receive-webhooks.md',
  'docs/how-to/develop-webhooks.md',
  'docs/how-to/mirror-into-a-warehouse.md',
  'docs/how-to/monitor.md',
  'docs/how-to/back-up.md',
  'docs/how-to/verify-the-audit-log.md',
  'docs/how-to/manage-keys.md',
  'docs/how-to/upgrade.md',
  'docs/how-to/scale.md',
  'docs/how-to/uninstall.md',
];

/** Guides that connect Docket with programs of other projects, with their Debian packages: `npm run test:recipes [-- NAME…]`. */
export const RECIPES: ReadonlyMap<string, readonly string[]> = new Map([
  ['docs/how-to/receive-alerts.md', ['prometheus-alertmanager']],
  ['docs/how-to/monitor-with-prometheus.md', ['prometheus']],
  ['docs/how-to/import-a-spreadsheet-monthly.md', []],
  ['docs/how-to/mirror-into-postgresql.md', ['postgresql', 'postgresql-common']],
  ['docs/how-to/restart-behind-nginx.md', ['nginx', 'haproxy']],
  ['docs/how-to/connect-oidc.md', ['chromium']],
  ['docs/how-to/high-availability.md', ['patroni', 'python3-etcd', 'etcd-server', 'haproxy', 'postgresql']],
  // Last: it exports the settings of another service.
  ['docs/how-to/store-files.md', []],
]);

export interface Block {
  language: string;
  words: string[];
  text: string;
  /** Of the fence. */
  line: number;
  /** The paragraph before the block, as a reader sees it. */
  before: string;
}

/** The marked blocks of a page. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  for (const found of page.matchAll(/^```(\S+) ([^\n]+)\n([^]*?)^```$/gm)) {
    const [, language = '', info = '', text = ''] = found;
    const prefix = page.slice(0, found.index);
    blocks.push({
      language,
      words: info.split(' '),
      text,
      line: prefix.split('\n').length,
      before: prefix.trimEnd().split('\n\n').at(-1) ?? '',
    });
  }
  return blocks;
}

/** The file that the block is to be saved as. */
export function fileOf({ words }: Block): string | undefined {
  return words.find((word) => word.startsWith('file='))?.slice('file='.length);
}

/** True if the text is as shown, where `…` matches anything. */
export function textFits(shown: string, text: string): boolean {
  const parts = shown
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*?')}$`).test(text.trim());
}

/** True if the value contains what is shown; it may contain more. */
export function jsonFits(shown: unknown, value: unknown): boolean {
  if (typeof shown === 'string') return typeof value === 'string' ? textFits(shown, value) : shown === '…';
  if (typeof shown !== 'object' || shown === null) return shown === value;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(shown)) {
    return Array.isArray(value) && shown.length === value.length && shown.every((one, at) => jsonFits(one, value[at]));
  }
  return Object.entries(shown).every(([name, one]) => jsonFits(one, (value as Record<string, unknown>)[name]));
}

/** A block did not work, or printed something else. */
class GuideError extends Error {}

/** A shell in a clean clone, as a reader has it. */
export class Reader {
  readonly #folder: string;
  readonly #port: number;
  #service: ChildProcess | undefined;
  /** What the service printed. */
  said = '';

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  /** Clones the repository with its uncommitted changes, so that a guide can be tried before it is committed. */
  static async inClone(): Promise<Reader> {
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'docket-guides-')));
    const self = new Reader(folder, await freePort());
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', '--depth', '1', `file://${root}`, self.clone]);
    const git = (...args: string[]): string[] =>
      execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
    for (const file of git('diff', 'HEAD', '--name-only', '--diff-filter=D')) await rm(path.join(self.clone, file));
    const changed = git('diff', 'HEAD', '--name-only', '--diff-filter=d');
    for (const file of [...changed, ...git('ls-files', '--others', '--exclude-standard')]) {
      await cp(path.join(root, file), path.join(self.clone, file));
    }
    await writeFile(self.#state, '');
    return self;
  }

  get clone(): string {
    return path.join(this.#folder, 'docket');
  }

  /** Stores the exported variables between blocks. */
  get #state(): string {
    return path.join(this.#folder, 'variables');
  }

  /** The system's programs, Node, and the registry settings; nothing else of this process's environment. */
  get #env(): Record<string, string> {
    const given = Object.entries(process.env).filter(([name]) =>
      /^(?:HOME|LANG|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|npm_config_registry)$/i.test(name),
    ) as [string, string][];
    const places = (process.env['PATH'] ?? '').split(':').filter((place) => !place.includes('node_modules'));
    return { ...Object.fromEntries(given), PATH: places.join(':'), DOCKET_PORT: String(this.#port) };
  }

  #bash(script: string): { status: number | null; stdout: string; stderr: string } {
    return spawnSync(
      'bash',
      ['-c', `set -eo pipefail; source ${this.#state}\n${script}\nexport -p > ${this.#state}\n`],
      {
        cwd: this.clone,
        env: this.#env,
        encoding: 'utf8',
        timeout: BLOCK_MS,
        maxBuffer: 1e8,
      },
    );
  }

  /** Uses the packages of this repository instead of `npm ci`. */
  async linkPackages(): Promise<void> {
    for (const place of ['node_modules', 'client/node_modules']) {
      const [from, to] = [path.join(root, place), path.join(this.clone, place)];
      // npm makes the second folder only if a version differs.
      if (!existsSync(from)) continue;
      const linked = spawnSync('cp', ['-al', from, to]);
      // Links cannot cross file systems.
      if (linked.status !== 0) {
        await rm(to, { recursive: true, force: true });
        await cp(from, to, { recursive: true, verbatimSymlinks: true });
      }
    }
    const consoleBuild = 'web/dist';
    if (existsSync(path.join(root, consoleBuild))) {
      await cp(path.join(root, consoleBuild), path.join(this.clone, consoleBuild), { recursive: true });
    }
    this.#must(this.#bash('node client/tools/build.mjs'), 'the build of the client');
  }

  #must(done: { status: number | null; stdout: string; stderr: string }, place: string): string {
    if (done.status === 0) return done.stdout;
    throw new GuideError(`${place} ended with ${done.status}:\n${done.stderr.slice(-1500)}${done.stdout.slice(-500)}`);
  }

  #install(text: string, place: string): void {
    const done = this.#bash(text);
    this.#must(done, place);
    const warnings = done.stderr.split('\n').filter((line) => /EBADENGINE|deprecated|install-scripts/.test(line));
    if (warnings.length > 0) throw new GuideError(`${place}: npm warns:\n${warnings.join('\n')}`);
  }

  async #serve(text: string): Promise<void> {
    const child = spawn('bash', ['-c', text], { cwd: this.clone, env: this.#env, detached: true });
    this.#service = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => {
        this.said += part;
      });
    }
    const until = performance.now() + READY_MS;
    while (!this.said.includes('Docket answers at')) {
      if (child.exitCode !== null || performance.now() > until) {
        throw new GuideError(`the service does not start:\n${this.said}`);
      }
      await sleep(100);
    }
  }

  /** Settings of Docket that are exported in the reader's terminal, except the two that every guide uses. */
  settings(): Set<string> {
    const listed = this.#must(this.#bash('export -p'), 'export -p');
    const names = [...listed.matchAll(/^declare -x (\w+)/gm)].map(([, name = '']) => name);
    return new Set(names.filter((name) => SETTING.test(name) && !SHARED.has(name)));
  }

  /**
   * Runs the blocks of a page.
   *
   * @param linked true if the packages are linked: `npm ci` is not run
   * @param only up to and including the block that contains this text
   * @throws GuideError for the first block that does not work as the page says
   */
  async read(name: string, { linked = false, only }: { linked?: boolean; only?: string } = {}): Promise<void> {
    const page = await readFile(path.join(this.clone, name), 'utf8');
    let printed = '';
    for (const block of blocksOf(page.replaceAll('127.0.0.1:8080', `127.0.0.1:${this.#port}`))) {
      const place = `${name}:${block.line}`;
      const { language, words, text } = block;
      const file = fileOf(block);
      if (file !== undefined) {
        await mkdir(path.dirname(path.join(this.clone, file)), { recursive: true });
        await writeFile(path.join(this.clone, file), text);
      }
      if (words.includes('install') && !linked) this.#install(text, place);
      if (words.includes('serve')) await this.#serve(text);
      if (words.includes('run')) printed = this.#must(this.#bash(text), place);
      if (words.includes('shows')) {
        let fits = false;
        try {
          fits = language === 'json' ? jsonFits(JSON.parse(text), JSON.parse(printed)) : textFits(text, printed);
        } catch {
          // It printed something that is not JSON.
        }
        if (!fits) throw new GuideError(`${place}: printed was:\n${printed.slice(0, 2000)}`);
      }
      if (only !== undefined && text.includes(only)) return;
    }
  }

  /** Ends the programs that a guide left running in the clone because one of its blocks failed. Needs `/proc`. */
  async #endPrograms(): Promise<void> {
    for (const pid of await readdir('/proc').catch(() => [])) {
      const place = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      if (/^\d+$/.test(pid) && place.startsWith(`${this.#folder}/`)) process.kill(Number(pid), 'SIGKILL');
    }
  }

  /** Stops the service as Ctrl-C in the reader's terminal does, and deletes the clone. @returns its exit code */
  async leave(): Promise<number | null> {
    const child = this.#service;
    let code: number | null = null;
    if (child?.pid !== undefined && child.exitCode === null) {
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      process.kill(-child.pid, 'SIGINT');
      code = await ended;
    }
    await this.#endPrograms();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
    return code;
  }
}

/**
 * Runs the chosen guides in one clean clone, the start of the README always.
 *
 * @returns for each guide what did not work, empty when all did
 */
export async function runGuides(
  chosen: readonly string[],
  linked: boolean,
  report: (name: string, problem: string) => void,
): Promise<void> {
  const reader = await Reader.inClone();
  try {
    if (linked) await reader.linkPackages();
    // The key is made by the last block that the other guides depend on.
    await reader.read('README.md', { linked, ...(chosen.includes('README.md') ? {} : { only: 'export DOCKET_KEY' }) });
    if (chosen.includes('README.md')) report('README.md', '');
    for (const name of chosen) {
      if (name === 'README.md') continue;
      try {
        const before = reader.settings();
        await reader.read(name);
        const left = [...reader.settings().difference(before)];
        report(name, left.length === 0 ? '' : `leaves settings in the terminal: ${left.join(', ')}`);
      } catch (error) {
        if (!(error instanceof GuideError)) throw error;
        report(name, error.message);
      }
    }
  } catch (error) {
    if (!(error instanceof GuideError)) throw error;
    report('README.md', error.message);
  } finally {
    await reader.leave();
  }
}

/** Installs missing Debian packages. @throws Error that says what to install, unless this is Debian and the user is root */
function installPackages(packages: readonly string[]): void {
  const missing = [...new Set(packages)].filter((name) => spawnSync('dpkg', ['-s', name]).status !== 0);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0) throw new Error(`Run as root: apt-get install ${missing.join(' ')}`);
  execFileSync('apt-get', ['update', '-qq']);
  // Another installation may be running.
  const lock = ['-o', 'DPkg::Lock::Timeout=300'];
  execFileSync('apt-get', [...lock, 'install', '-y', '-qq', '--no-install-recommends', ...missing], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

if (import.meta.main) {
  const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const all = process.argv.includes('--recipes') ? [...RECIPES.keys()] : GUIDES;
  const chosen = all.filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
  installPackages(chosen.flatMap((name) => RECIPES.get(name) ?? []));
  await runGuides(chosen, process.argv.includes('--linked'), (name, problem) => {
    process.stdout.write(problem === '' ? `holds  ${name}\n` : `FAILS  ${name}\n${problem}\n`);
    if (problem !== '') process.exitCode = 1;
  });
}

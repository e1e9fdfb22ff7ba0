/**
 * How to run the PostgreSQL programs. They refuse to run as root, so root has to become somebody else for them:
 *
 * 1. in a user namespace, where root looks like an ordinary user but owns the same files; no other user is needed and a
 *    data folder below a folder of mode 0700 works;
 * 2. where namespaces are not allowed (most containers), as another user id: that of the data, else 65534 ("nobody"), with
 *    data and programs in folders that it can reach.
 */
import { type ChildProcess, execFile, spawn, type StdioOptions } from 'node:child_process';
import { chmod, chown, lchown, mkdtemp, readdir, readlink, rm, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { type Binaries, copyBinaries, findBinaries, linkLibraries } from './embedded-binaries.ts';
import { EmbeddedError } from './embedded-error.ts';

/** The ids under which the programs run, when not those of this process. */
interface Identity {
  uid: number;
  gid: number;
}

export interface Launcher {
  binaries: Binaries;
  /** The cluster's folder as a real path; the folder may not exist yet, its parent does. */
  cluster: string;
  start(program: 'postgres', args: string[], stdio: StdioOptions): ChildProcess;
  /**
   * Runs a program to its end; throws `EmbeddedError` with what it said if it fails. An aborted `signal` terminates the
   * program; the promise settles when the program and its children have ended.
   */
  run(
    program: 'postgres' | 'initdb',
    args: string[],
    options?: { input?: string; signal?: AbortSignal | undefined },
  ): Promise<void>;
  /** Hands a folder or file, with all that is in it, to the user that the programs run as. */
  own(place: string): Promise<void>;
}

const NOBODY: Identity = { uid: 65534, gid: 65534 };
const NAMESPACE = ['unshare', '--user'];
const OWN_SERVER = 'set DATABASE_URL to use a PostgreSQL of your own (15 to 18)';

// Nothing of the caller's environment reaches the server: PGDATA, LC_ALL or TZ there would change what it does.
const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' };

class ProgramLauncher implements Launcher {
  readonly binaries: Binaries;
  readonly cluster: string;
  readonly #prefix: readonly string[];
  readonly #identity: Identity | undefined;

  constructor(binaries: Binaries, cluster: string, prefix: readonly string[], identity?: Identity) {
    this.binaries = binaries;
    this.cluster = cluster;
    this.#prefix = prefix;
    this.#identity = identity;
  }

  #command(file: string, args: string[]): { file: string; args: string[] } {
    const [first = file, ...rest] = [...this.#prefix, file, ...args];
    return { file: first, args: rest };
  }

  #options(): { cwd: string; env: Record<string, string>; uid?: number; gid?: number } {
    return { cwd: '/', env: ENVIRONMENT, ...this.#identity };
  }

  #program(program: string): string {
    return path.join(this.binaries.native, 'bin', program);
  }

  // In a process group of its own: Ctrl-C, or a signal to the service's group, must not stop the database before the
  // service has finished what it was doing.
  start(program: 'postgres', args: string[], stdio: StdioOptions): ChildProcess {
    const command = this.#command(this.#program(program), args);
    return spawn(command.file, command.args, { ...this.#options(), stdio, detached: true });
  }

  async run(
    program: 'postgres' | 'initdb',
    args: string[],
    { input = '', signal }: { input?: string; signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const failure = await this.#attempt(this.#program(program), args, input, signal);
    signal?.throwIfAborted();
    if (failure === null) return;
    const nameless = failure.includes('could not look up effective user');
    const hint = nameless ? `; give that user an entry in /etc/passwd, or ${OWN_SERVER}` : '';
    throw new EmbeddedError(`PostgreSQL's ${program} failed: ${failure}${hint}.`);
  }

  /** Whether the programs run in this way, and the folder can be written (`-w`) or passed through (`-x`). */
  probe(folder: string, access: '-w' | '-x'): Promise<string | null> {
    return this.#shell(`${this.#reach(access)} exec "$2" -V`, [folder, this.#program('postgres')]);
  }

  /** Null when the folder can be passed through, else what is in the way. */
  reaches(folder: string): Promise<string | null> {
    return this.#shell(this.#reach('-x'), [folder]);
  }

  #reach(access: '-w' | '-x'): string {
    return `test ${access} "$1" || { echo "no access to $1" >&2; exit 1; };`;
  }

  #shell(script: string, args: string[]): Promise<string | null> {
    return this.#attempt('/bin/sh', ['-c', script, 'sh', ...args], '');
  }

  #attempt(file: string, args: string[], input: string, signal?: AbortSignal): Promise<string | null> {
    const command = this.#command(file, args);
    return new Promise((resolve) => {
      const terminate = (): void => void child.kill('SIGTERM');
      // Not by execFile's own `signal`: that reports the end before the program has ended.
      const child = execFile(command.file, command.args, this.#options(), (error, stdout, stderr) => {
        signal?.removeEventListener('abort', terminate);
        if (error === null) resolve(null);
        else resolve((stderr.trim() || stdout.trim() || error.message).split('\n').slice(-4).join(' '));
      });
      signal?.addEventListener('abort', terminate);
      if (signal?.aborted === true) terminate();
      // A program that fails at once closes its input before we have written; its exit code says what matters.
      child.stdin?.on('error', () => {});
      child.stdin?.end(input);
    });
  }

  async own(place: string): Promise<void> {
    if (this.#identity !== undefined) await handOver(place, this.#identity);
  }
}

async function handOver(place: string, to: Identity): Promise<void> {
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const inner = path.join(place, entry.name);
    if (entry.isDirectory()) await handOver(inner, to);
    else await lchown(inner, to.uid, to.gid);
  }
  await chown(place, to.uid, to.gid);
}

/**
 * Finds the way to run the programs for the cluster `folder/name`. `folder` exists and is a real path. Where the user that
 * the programs have to run as cannot reach it, the cluster is put under `/var/lib` and `folder/name` becomes a link to it.
 */
export async function findLauncher(folder: string, name: string, log: (line: string) => void): Promise<Launcher> {
  const found = await findBinaries();
  const binaries = (await linkLibraries(found.native)) ? found : await copyBinaries(found, folder);
  const place = path.join(folder, name);
  const cluster = await readlink(place).then(
    (target) => path.resolve(folder, target),
    () => place,
  );
  const owner = await stat(cluster).catch(() => null);
  const self = process.getuid?.();
  if (self !== 0) {
    if (owner !== null && self !== undefined && owner.uid !== self) {
      throw new EmbeddedError(`The database in ${place} belongs to user ${owner.uid}, this is user ${self}.`);
    }
    const plain = new ProgramLauncher(binaries, cluster, []);
    const failure = await plain.probe(folder, '-w');
    if (failure === null) return plain;
    throw new EmbeddedError(`The embedded PostgreSQL cannot run here (${failure}); ${OWN_SERVER}.`);
  }
  if (owner !== null && owner.uid !== 0) {
    return await asUser({ uid: owner.uid, gid: owner.gid }, binaries, { folder, name, cluster, exists: true }, log);
  }
  const namespaced = new ProgramLauncher(binaries, cluster, NAMESPACE);
  if ((await namespaced.probe(path.dirname(cluster), '-w')) === null) return namespaced;
  return await asUser(NOBODY, binaries, { folder, name, cluster, exists: owner !== null }, log);
}

interface Place {
  folder: string;
  name: string;
  cluster: string;
  exists: boolean;
}

async function asUser(
  identity: Identity,
  binaries: Binaries,
  place: Place,
  log: (line: string) => void,
): Promise<Launcher> {
  const failed = (why: string) =>
    new EmbeddedError(
      `PostgreSQL does not run as root, and as user ${identity.uid} it cannot run here (${why}): ` +
        `start Docket as an ordinary user, or ${OWN_SERVER}.`,
    );
  let cluster = place.cluster;
  const blocked = await openWay(new ProgramLauncher(binaries, cluster, [], identity), path.dirname(cluster));
  if (blocked !== null) {
    if (place.exists) throw failed(blocked);
    const home = await mkdtemp('/var/lib/docket-').catch(() => null);
    if (home === null) throw failed(blocked);
    await chmod(home, 0o711);
    cluster = path.join(home, place.name);
    await rm(path.join(place.folder, place.name), { force: true });
    await symlink(cluster, path.join(place.folder, place.name));
    log(`the database is kept in ${cluster}, since user ${identity.uid} cannot reach ${place.folder}`);
  }
  const direct = new ProgramLauncher(binaries, cluster, [], identity);
  if ((await direct.probe(path.dirname(cluster), '-x')) === null) return direct;
  const copy = await copyBinaries(binaries, path.dirname(cluster));
  const launcher = new ProgramLauncher(copy, cluster, [], identity);
  const failure = await launcher.probe(path.dirname(cluster), '-x');
  if (failure === null) return launcher;
  throw failed(failure);
}

// The data folder is ours, so it may let others pass through (not look into) it; the folders above it are left alone.
async function openWay(launcher: ProgramLauncher, folder: string): Promise<string | null> {
  const blocked = await launcher.reaches(folder);
  if (blocked === null) return null;
  const before = (await stat(folder)).mode & 0o777;
  await chmod(folder, before | 0o111);
  const still = await launcher.reaches(folder);
  if (still !== null) await chmod(folder, before);
  return still;
}

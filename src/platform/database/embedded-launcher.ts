/**
 * Runs the PostgreSQL programs. They refuse to run as root, so root runs them in one of these ways:
 *
 * 1. In a user namespace, where root appears as an ordinary user but owns the same files. This needs no other user, and
 *    works for a data folder below a folder of mode 0700.
 * 2. If namespaces are not allowed (most containers), as another user id: the owner of the data, otherwise 65534
 *    ("nobody"), with data and programs in folders that this user can reach.
 */
import { type ChildProcess, execFile, spawn, type StdioOptions } from 'node:child_process';
import { chmod, chown, lchown, mkdtemp, readdir, readlink, rm, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { type Binaries, copyBinaries, findBinaries, linkLibraries } from './embedded-binaries.ts';
import { EmbeddedError } from './embedded-process.ts';

/** The ids that the programs run as, if not those of this process. */
interface Identity {
  uid: number;
  gid: number;
}

export interface Launcher {
  binaries: Binaries;
  /** The cluster's folder as a real path. The folder itself may not exist yet; its parent does. */
  cluster: string;
  start(program: 'postgres', args: string[], stdio: StdioOptions): ChildProcess;
  /**
   * Runs a program to completion. Throws `EmbeddedError` with its output if it fails. An aborted `signal` terminates the
   * program; the promise settles when the program and its children have ended.
   */
  run(
    program: 'postgres' | 'initdb',
    args: string[],
    options?: { input?: string; signal?: AbortSignal | undefined },
  ): Promise<void>;
  /** Changes the owner of a folder or file, recursively, to the user that the programs run as. */
  own(place: string): Promise<void>;
}

const NOBODY: Identity = { uid: 65534, gid: 65534 };
const NAMESPACE = ['unshare', '--user'];
const OWN_SERVER = 'set DATABASE_URL to use a PostgreSQL of your own (15 to 18)';

// The server does not inherit the caller's environment: PGDATA, LC_ALL or TZ would change its behaviour.
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

  // Runs in a separate process group: Ctrl-C, or a signal to the service's group, must not stop the database before the service
  // has finished its work.
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

  /**
   * Checks that the programs run in this way and that the folder is writable (`-w`) or traversable (`-x`). Returns null or the
   * error.
   */
  probe(folder: string, access: '-w' | '-x'): Promise<string | null> {
    return this.#shell(`${this.#reach(access)} exec "$2" -V`, [folder, this.#program('postgres')]);
  }

  /** Returns null if the folder can be traversed, otherwise the error. */
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
      // Does not use the `signal` option of execFile, which settles before the program has ended.
      const child = execFile(command.file, command.args, this.#options(), (error, stdout, stderr) => {
        signal?.removeEventListener('abort', terminate);
        if (error === null) resolve(null);
        else resolve((stderr.trim() || stdout.trim() || error.message).split('\n').slice(-4).join(' '));
      });
      signal?.addEventListener('abort', terminate);
      if (signal?.aborted === true) terminate();
      // A program that fails at once closes its input while we write. Its exit code describes the error.
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
 * Finds the way to run the programs for the cluster `folder/name`. `folder` exists and is a real path. If the user that the
 * programs must run as cannot reach it, the cluster is placed under `/var/lib`, and `folder/name` becomes a link to it.
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

interface ClusterLocation {
  folder: string;
  name: string;
  cluster: string;
  exists: boolean;
}

async function asUser(
  identity: Identity,
  binaries: Binaries,
  place: ClusterLocation,
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
    log(`the database is stored in ${cluster} because user ${identity.uid} cannot reach ${place.folder}`);
  }
  const direct = new ProgramLauncher(binaries, cluster, [], identity);
  if ((await direct.probe(path.dirname(cluster), '-x')) === null) return direct;
  const copy = await copyBinaries(binaries, path.dirname(cluster));
  const launcher = new ProgramLauncher(copy, cluster, [], identity);
  const failure = await launcher.probe(path.dirname(cluster), '-x');
  if (failure === null) return launcher;
  throw failed(failure);
}

// The data folder is ours, so other users may be allowed to traverse (not list) it. The folders above are not changed.
async function openWay(launcher: ProgramLauncher, folder: string): Promise<string | null> {
  const blocked = await launcher.reaches(folder);
  if (blocked === null) return null;
  const before = (await stat(folder)).mode & 0o777;
  await chmod(folder, before | 0o111);
  const still = await launcher.reaches(folder);
  if (still !== null) await chmod(folder, before);
  return still;
}

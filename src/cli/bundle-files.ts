/** The files of a bundle in a folder. */
import { isUtf8 } from 'node:buffer';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BundleFile, BundleOptions, PlannedItem } from '../configuration/engine.ts';
import type { Tool } from './service.ts';

const NEW_LINE = 0x0a;

/**
 * The YAML files of a folder, sorted by name, or one file.
 *
 * @throws Error with a message for the user: also for one file with `prune`, which would archive what the other files hold
 */
export async function readBundleFiles(place: string, { prune }: BundleOptions): Promise<BundleFile[]> {
  if (!place.endsWith('.yaml')) return await readFolder(place);
  if (prune === true) {
    throw new Error(`${place} is a part of a bundle; --prune would archive the other parts. Give the folder.`);
  }
  const name = path.basename(place);
  return [{ name, text: await utf8(name, await readFile(place)) }];
}

async function readFolder(folder: string): Promise<BundleFile[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch {
    throw new Error(`${folder} is not a readable folder; give the folder with the *.yaml files.`);
  }
  const chosen = bundleFiles(names);
  if (chosen.length === 0) throw new Error(`${folder} contains no *.yaml file; give the folder of a bundle.`);
  return await Promise.all(
    chosen.map(async (name) => ({ name, text: await utf8(name, await readFile(path.join(folder, name))) })),
  );
}

export function bundleFiles(names: readonly string[]): string[] {
  return names.filter((name) => name.endsWith('.yaml')).sort();
}

/** Rejects files that are not UTF-8: they would be stored with replacement characters. */
async function utf8(file: string, bytes: Buffer): Promise<string> {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let start = 0;
  for (let line = 1; ; line++) {
    const end = bytes.indexOf(NEW_LINE, start);
    if (!isUtf8(bytes.subarray(start, end === -1 ? bytes.length : end))) {
      const { BundleError } = await import('../configuration/errors.ts');
      const { problem } = await import('../lib/problem.ts');
      throw new BundleError([{ file, line, column: 1, path: '', ...problem('NOT_UTF8') }]);
    }
    start = end + 1;
  }
}

export function starterFolder(name: string): string {
  return fileURLToPath(new URL(`../../config/${name}`, import.meta.url));
}

/** Applies the bundle of a folder in one transaction. @throws BundleError, Fault */
export async function applyFolder(
  tool: Pick<Tool, 'work' | 'caller' | 'sections'>,
  folder: string,
  options: BundleOptions,
): Promise<PlannedItem[]> {
  const { applyFiles } = await import('./local.ts');
  return await applyFiles(tool, await readFolder(folder), options);
}

/** Refuses to export into a folder with other YAML files: they would later be read and applied as part of the bundle. */
export function refuseOthers(dir: string, names: readonly string[], written: ReadonlySet<string>): void {
  const others = bundleFiles(names).filter((name) => !written.has(name));
  if (others.length === 0) return;
  throw new Error(
    `${dir} holds ${others.join(', ')}, which would be read together with what is exported; nothing was written. Name ` +
      'another folder, or take them away.',
  );
}

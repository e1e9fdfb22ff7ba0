/** Runs commands of the command line in the process of the test. */
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { run } from '../../src/cli.ts';
import { readMigrations } from '../../src/platform/database/migrate.ts';

export type Run = typeof run;

export interface CommandResult {
  code: number;
  out: string;
  err: string;
}

/** Captures output text; the test runner itself writes bytes, which pass through. */
function catching(stream: NodeJS.WriteStream, said: string[]): () => void {
  const { write } = stream;
  stream.write = ((chunk: unknown, ...more: []): boolean => {
    if (typeof chunk !== 'string') return write.call(stream, chunk as Uint8Array, ...more);
    said.push(chunk);
    return true;
  }) as typeof write;
  return () => {
    stream.write = write;
  };
}

/**
 * Copies this version into a new folder and adds one migration, `…-sample`. @returns the command line of the copy
 *
 * @param migration SQL of the added migration
 */
export async function nextVersion(folder: string, migration: string): Promise<Run> {
  const root = path.resolve(import.meta.dirname, '../..');
  await mkdir(folder);
  for (const part of ['src', 'client/src', 'db', 'config', 'package.json']) {
    await cp(path.join(root, part), path.join(folder, part), { recursive: true });
  }
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const number = String((await readMigrations()).length + 1).padStart(4, '0');
  await writeFile(path.join(folder, 'db', 'migrations', `${number}-sample.sql`), migration);
  return ((await import(pathToFileURL(path.join(folder, 'src', 'cli.ts')).href)) as { run: Run }).run;
}

/**
 * Runs one command to its end. Use `serve` only where it refuses, since a running service does not end.
 *
 * @param of the command line of another version (`nextVersion`)
 */
export async function runCommand(
  args: readonly string[],
  env: Record<string, string>,
  of: Run = run,
): Promise<CommandResult> {
  const out: string[] = [];
  const err: string[] = [];
  const undo = [catching(process.stdout, out), catching(process.stderr, err)];
  try {
    const code = await of(args, env);
    return { code, out: out.join(''), err: err.join('') };
  } finally {
    for (const back of undo) back();
  }
}

/** Builds the client as plain JavaScript with its declarations into `client/dist`: what its package is made of. */
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const target = path.join(root, 'client', 'dist');
await rm(target, { recursive: true, force: true });
const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
await promisify(execFile)(process.execPath, [compiler, '-p', path.join(root, 'client', 'tsconfig.build.json')]).catch(
  (error: { stdout: string }) => {
    throw new Error(error.stdout);
  },
);
// The compiler leaves the names of files in declarations as they are written.
for (const name of await readdir(target, { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  const file = path.join(target, name);
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll(/(from\s+')(\.[^']+)\.ts'/g, "$1$2.js'"));
}

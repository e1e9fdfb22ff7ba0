/**
 * Removes the `engines` of dependencies from package-lock.json: `npm run lock`, after each change of dependencies. npm compares
 * them with the Node that runs npm, which may be 20, and prints a warning for each; the packages run on the Node 26 that npm
 * installs. `npm ci` uses them for nothing else. With `--check`, changes nothing and exits 1 when the lock file has some.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const file = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), 'package-lock.json');
const lock = JSON.parse(await readFile(file, 'utf8'));
const found = Object.entries(lock.packages).filter(
  ([place, entry]) => place.includes('node_modules/') && entry.engines,
);
if (found.length > 0 && process.argv.includes('--check')) {
  process.stderr.write(`package-lock.json states engines for ${found.length} packages: run \`npm run lock\`\n`);
  process.exitCode = 1;
} else if (found.length > 0) {
  for (const [, entry] of found) delete entry.engines;
  await writeFile(file, `${JSON.stringify(lock, null, 2)}\n`);
}

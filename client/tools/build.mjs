/**
 * Builds the client into `client/dist`: JavaScript and declarations, what `import '@docket/client'` loads. Runs after `npm ci`
 * and before the client is packed. Plain JavaScript, since it must run on Node 20, which cannot run TypeScript. Where the
 * compiler is not installed (`npm ci --omit=dev`), it says so and changes nothing.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const client = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const target = path.join(client, 'dist');
const compiler = path.join(client, '..', 'node_modules', 'typescript', 'bin', 'tsc');

async function compile() {
  try {
    await promisify(execFile)(process.execPath, [compiler, '-p', path.join(client, 'tsconfig.build.json')]);
  } catch (error) {
    throw new Error(`The client does not compile:\n${error.stdout}${error.stderr}`);
  }
}

/** The compiler rewrites the extensions of imports in JavaScript, but not in declarations. */
async function renameImportsInDeclarations() {
  for (const name of await readdir(target, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const file = path.join(target, name);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replaceAll(/(from\s+')(\.[^']+)\.ts'/g, "$1$2.js'"));
  }
}

if (existsSync(compiler)) {
  await rm(target, { recursive: true, force: true });
  try {
    await compile();
    await renameImportsInDeclarations();
  } catch (error) {
    // An incomplete build must not be imported.
    await rm(target, { recursive: true, force: true });
    throw error;
  }
} else {
  process.stderr.write('@docket/client is not built: TypeScript is not installed (npm ci without --omit=dev).\n');
}

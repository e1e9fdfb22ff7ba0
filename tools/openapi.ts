/**
 * Writes the OpenAPI documents `openapi/v1.json` and `openapi/admin.json`. With `--check`, writes nothing and exits with 1 if a
 * committed document is out of date.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { MODULES } from '../src/modules.ts';
import { collect, operationsOf } from '../src/platform/module.ts';
import { buildDocuments } from '../src/contract/openapi.ts';

const folder = path.resolve(import.meta.dirname, '../openapi');
const check = process.argv.includes('--check');
const documents = buildDocuments(operationsOf(MODULES), collect(MODULES, 'events'));

await mkdir(folder, { recursive: true });
for (const [name, document] of [
  ['v1.json', documents.public],
  ['admin.json', documents.console],
] as const) {
  const file = path.join(folder, name);
  const text = `${JSON.stringify(JSON.parse(document.toString()), null, 2)}\n`;
  if (!check) {
    await writeFile(file, text);
  } else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    console.error(`openapi/${name} is not what the operations say: run \`node tools/openapi.ts\``);
    process.exitCode = 1;
  }
}

/**
 * Records the examples of the OpenAPI documents: `npm run openapi:examples`. Starts a service, makes the calls of
 * `test/support/examples.ts` and writes `openapi/examples`, one file per group of operations. Then run `npm run openapi`.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { MODULES } from '../src/modules.ts';
import { operationsOf } from '../src/platform/module.ts';
import { recordExamples } from '../test/support/examples.ts';
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts';

const folder = path.resolve(import.meta.dirname, '../openapi/examples');

await globalSetup();
try {
  const examples = await recordExamples();
  const groups = Map.groupBy(operationsOf(MODULES), ({ tag }) => tag.toLowerCase().replaceAll(' ', '-'));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [group, members] of groups) {
    const kept = members.flatMap(({ id }) => (examples.has(id) ? [[id, examples.get(id)] as const] : []));
    await writeFile(path.join(folder, `${group}.json`), `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
  }
  const missing = operationsOf(MODULES).filter(({ id }) => !examples.has(id));
  process.stdout.write(`${examples.size} examples; missing: ${missing.map(({ id }) => id).join(' ') || 'none'}\n`);
} finally {
  await globalTeardown();
}

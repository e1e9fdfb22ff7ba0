/**
 * Writes what the client takes from the OpenAPI documents to `client/src/generated`: the types of everything that travels, by
 * openapi-ts, and a method for each operation. With `--check`, writes nothing and exits 1 when a committed file is stale.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire, registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Document, reduced, type Surface, writeCodes, writeOperations } from './operations.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, 'client', 'src', 'generated');

let given = false;

/** openapi-ts works with the programming interface of TypeScript, which version 7 has not: it gets the client's own. */
function giveTypeScript6(): void {
  if (given) return;
  given = true;
  const own = pathToFileURL(createRequire(path.join(root, 'client', 'package.json')).resolve('typescript')).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'typescript' && context.parentURL?.includes('/@hey-api/') === true
        ? { url: own, shortCircuit: true }
        : next(specifier, context),
  });
}

/** Runs openapi-ts with these plugins. @param input a document or the path of one */
export async function generate(input: unknown, target: string, plugins: readonly string[]): Promise<void> {
  giveTypeScript6();
  const { createClient } = await import('@hey-api/openapi-ts');
  await createClient({
    input: input as never,
    output: { path: target },
    plugins: [...plugins] as never,
    logs: { level: 'silent' },
  });
}

async function typesOf(document: Document): Promise<string> {
  const target = await mkdtemp(path.join(tmpdir(), 'docket-client-'));
  try {
    await generate(document, target, ['@hey-api/typescript']);
    return await readFile(path.join(target, 'types.gen.ts'), 'utf8');
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}

async function formatted(file: string, text: string): Promise<string> {
  const biome = path.join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
  return await new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [biome, 'format', `--stdin-file-path=${path.relative(root, file)}`],
      { cwd: root, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
    );
    child.stdin?.end(text);
  });
}

/** The files of the folder by name. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const read = async (name: string): Promise<Document> =>
    JSON.parse(await readFile(path.join(root, 'openapi', name), 'utf8')) as Document;
  const [api, all] = [await read('v1.json'), await read('admin.json')];
  const surfaces: [Surface, Document][] = [
    ['api', reduced(api)],
    ['admin', reduced(all, api)],
  ];
  const files = new Map<string, string>([['codes.ts', writeCodes(api, all)]]);
  for (const [surface, document] of surfaces) {
    files.set(`${surface}-types.ts`, await typesOf(document));
    files.set(`${surface}.ts`, writeOperations(surface, document));
  }
  for (const [name, text] of files) files.set(name, await formatted(path.join(folder, name), text));
  return files;
}

if (import.meta.main) {
  const check = process.argv.includes('--check');
  for (const [name, text] of await generatedFiles()) {
    const file = path.join(folder, name);
    if (!check) await writeFile(file, text);
    else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
      process.stderr.write(`client/src/generated/${name} is stale: run \`npm run client\`\n`);
      process.exitCode = 1;
    }
  }
}

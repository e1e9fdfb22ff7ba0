/**
 * The OpenAPI documents work with common tools: linters and validators report nothing, and generated code compiles with `tsc
 * --strict`. Redocly's lint is in `test/openapi.test.ts`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { generate } from '../../client/tools/generate.ts';

const root = path.resolve(import.meta.dirname, '../..');
const documents = ['v1', 'admin'].map((name) => ({ name, file: path.join(root, 'openapi', `${name}.json`) }));

/** A program of a package that is installed here or above. */
function program(name: string, file: string): string {
  const manifest = createRequire(path.join(import.meta.dirname, 'package.json')).resolve(`${name}/package.json`);
  return path.join(path.dirname(manifest), file);
}

/** Runs a program with this Node. @returns its output */
async function run(file: string, args: readonly string[], cwd: string): Promise<string> {
  const done = promisify(execFile)(process.execPath, [file, ...args], { cwd, maxBuffer: 1e8 });
  const { stdout } = await done.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${path.basename(file)} ${args.join(' ')}:\n${error.stdout}${error.stderr}`.slice(0, 8000));
  });
  return stdout;
}

describe('OpenAPI tools', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'docket-openapi-'));
    await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Compiles files as a strict project of a reader would, with their declarations checked too. */
  async function compile(...files: string[]): Promise<void> {
    const flags = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];
    const modules = ['--module', 'esnext', '--moduleResolution', 'bundler'];
    const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
    assert.equal(await run(compiler, [...flags, ...modules, ...files], folder), '');
  }

  for (const { name, file } of documents) {
    it(`Spectral reports nothing: ${name}`, async () => {
      const rules = path.join(import.meta.dirname, 'spectral.yaml');
      const lint = ['lint', '--ruleset', rules, '--fail-severity', 'hint', '--format', 'text', file];
      assert.match(await run(program('@stoplight/spectral-cli', 'dist/index.js'), lint, folder), /No results/);
    });

    it(`swagger-parser validates: ${name}`, async () => {
      const { default: SwaggerParser } = await import('@apidevtools/swagger-parser');
      await SwaggerParser.validate(file);
    });

    it(`openapi-typescript generates types that compile: ${name}`, async () => {
      const target = path.join(folder, `types-${name}.ts`);
      await run(program('openapi-typescript', 'bin/cli.js'), [file, '-o', target], folder);
      await compile(target);
    });

    it(`hey-api generates a client that compiles: ${name}`, async () => {
      const target = path.join(folder, `hey-${name}`);
      await generate(file, target, ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk']);
      await compile(path.join(target, 'index.ts'));
    });

    it(`orval generates a client that compiles: ${name}`, async () => {
      const target = path.join(folder, `orval-${name}.ts`);
      const settings = { docket: { input: file, output: { target, client: 'fetch', mode: 'single' } } };
      const config = path.join(folder, `orval-${name}.config.mjs`);
      await writeFile(config, `export default ${JSON.stringify(settings)};\n`);
      await run(program('orval', 'dist/bin/orval.mjs'), ['--config', config], folder);
      await compile(target);
    });
  }
});

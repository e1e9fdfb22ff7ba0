/** `docket types` writes valid TypeScript for the configuration, regardless of the names in it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { typeDeclarations } from '../src/cli/type-declarations.ts';
import { DATA_TYPES } from '../src/lib/data-types/index.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { docket } from './proofs/fault-service.ts';
import { ROOT } from './support/source-files.ts';

let app: TestApp;
let folder: string;

/** Compiler errors in a module that imports the declarations; empty if it compiles. */
async function compile(program: string): Promise<string[]> {
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(path.join(folder, 'program.ts'), program);
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const config = {
    extends: path.join(ROOT, 'tsconfig.json'),
    compilerOptions: { typeRoots: [path.join(ROOT, 'node_modules/@types')] },
    include: [folder],
  };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  const done = await promisify(execFile)(process.execPath, [compiler, '-p', folder]).catch(
    (error: { stdout: string }) => error,
  );
  return [...done.stdout.matchAll(/^(\S+?)\((\d+),\d+\): error (TS\d+)/gm)].map(
    ([, , line, code]) => `${line} ${code}`,
  );
}

const command = async (...args: string[]): Promise<{ code: number | null; stdout: string }> =>
  await docket(args, { DATABASE_URL: app.databaseUrl, DOCKET_DATA_DIR: folder });

describe('docket types', () => {
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'docket-types-'));
    app = await startTestApp();
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('writes types that the client accepts and that describe the values', async () => {
    const file = path.join(folder, 'types.ts');
    const { code, stdout } = await command('types', file, '--json');
    assert.equal(code, 0);
    assert.ok((JSON.parse(stdout) as { types: string[] }).types.includes('incident'));
    const lines = [
      `import { Docket } from '${path.join(ROOT, 'client/src/index.ts')}';`,
      "import type { RecordTypes } from './types.ts';",
      "const docket = new Docket<RecordTypes>({ url: 'http://127.0.0.1', key: 'k' });",
      "const incidents = docket.records('incident');",
      "const made = await incidents.create({ title: 'a', priority: 'p1', affected: ['x'], assignee: null });",
      "await incidents.transition(made, 'take', { assignee: 'x' });",
      "await incidents.update(made.id, made.revision, { priority: 'p2', assignee: null });",
      "export const state: 'new' | 'closed' | undefined = made.workflowState?.code === 'new' ? 'new' : undefined;",
      'export const title: string | undefined = made.values.title;',
      // From here on each line is wrong.
      "await incidents.create({ priority: 'p1' });",
      "await incidents.create({ title: 'a', priority: 'p9' });",
      "await incidents.create({ title: 'a', titel: 'b' });",
      "await incidents.transition(made, 'fly');",
      'await incidents.update(made.id, made.revision, { title: null });',
      "docket.records('nothing');",
      "export const never = made.workflowState?.code === 'flying';",
      'export const required: string = made.values.title;',
    ];
    const problems = await compile(lines.join('\n'));
    const expected = Array.from({ length: 8 }, (_, at) => String(at + 10));
    assert.deepEqual([...new Set(problems.map((problem) => problem.split(' ')[0]))], expected, problems.join('; '));
  });

  it('prints without a file argument, and checks an existing file', async () => {
    const file = path.join(folder, 'checked.ts');
    const { stdout: said } = await command('types');
    assert.match(said, /^export type RecordTypes = \{/m);
    await writeFile(file, said);
    assert.equal((await command('types', file, '--check')).code, 0);
    await writeFile(file, `${said}\n`);
    assert.equal((await command('types', file, '--check')).code, 1);
    assert.equal(await readFile(file, 'utf8'), `${said}\n`, 'a check writes nothing');
    await rm(file);
  });

  it('has a type for every data type and handles every name', async () => {
    const fields = DATA_TYPES.flatMap((dataType) =>
      [false, true].map((multiple) => ({
        code: `f_${dataType.replaceAll('-', '_')}${multiple ? 's' : ''}`,
        name: { 'en-US': 'Ends a comment */ export const evil = 1; /*\n`${x}`' },
        dataType,
        multiple,
        required: multiple,
        ...(dataType === 'enum' ? { constraints: { options: [{ code: 'x-1' }, { code: 'default' }] } } : {}),
      })),
    );
    const types = ['a-1', 'a1', 'object', 'record', 'constructor', 'string'].map((code) => ({
      code,
      name: code,
      fields,
    }));
    const text = typeDeclarations(types, [], 'en-US');
    await writeFile(path.join(folder, 'types.ts'), text);
    const program = [
      "import type { RecordTypes } from './types.ts';",
      "export const codes: (keyof RecordTypes)[] = ['a-1', 'a1', 'object', 'record', 'constructor', 'string'];",
      "export const value: RecordTypes['object']['values'] = { f_enum: 'default', f_integers: [1], f_decimal: '1.5' };",
      "export const state: RecordTypes['a1']['state'][] = [];",
    ];
    assert.deepEqual(await compile(program.join('\n')), []);
    assert.doesNotMatch(text, /^export const/m);
  });
});

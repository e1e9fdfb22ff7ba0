/**
 * Conventions that a compiler does not check (docs/architecture.md): no ambient state, one owner per table, small files with
 * kebab-case names, tests that run. Each check is also run on a bad sample.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { COMMENT_VISIBILITIES } from '../src/contract/comment-visibility.ts';
import {
  dotted,
  filesBelow,
  isTestFile,
  type Node,
  parseSource,
  ROOT,
  readSources,
  type Source,
  walk,
} from './support/source-files.ts';
import { type Ownership, TABLES } from './support/table-owners.ts';

const service = readSources('src').filter((source) => !isTestFile(source.path));
const everything = [...readSources('src', 'test', 'acceptance', 'tools', 'bench', 'examples')];
const tests = everything.filter((source) => source.path.endsWith('.test.ts'));

/** Ambient values that must be passed as parameters, and the few files that may read them. */
const AMBIENT: Readonly<Record<string, readonly string[]>> = {
  'process.env': ['src/main.ts'],
  'process.argv': ['src/main.ts'],
  'Date.now': ['src/platform/clock.ts'],
  'Temporal.Now': [],
  // Only for the jitter of concurrent retries; no decision depends on it.
  'Math.random': ['src/platform/unit-of-work/work.ts', 'src/platform/database/embedded-lock.ts'],
  // The service works through `platform/outbound`; the command line calls a service or a receiver that its user names.
  fetch: ['src/cli/listen.ts', 'src/cli/remote.ts'],
  // The parent of a span, for traces only; no decision depends on it.
  AsyncLocalStorage: ['src/platform/observability/traces-otel.ts'],
  'process taken apart': [],
  'Date taken apart': [],
  'Math taken apart': [],
  'Temporal taken apart': [],
  'globalThis taken apart': [],
  'node:process imported': [],
  // Randomness that is a secret or a name never used before.
  randomUUIDv7: ['src/platform/clock.ts'],
  randomUUID: ['src/platform/database/embedded-lock.ts'],
  randomBytes: [
    'src/domain/access/keys.ts',
    'src/domain/access/sessions.ts',
    'src/domain/access/sessions.ts',
    // The nonce of a page's styles.
    'src/http/console.ts',
    'src/platform/database/embedded-cluster.ts',
    'src/platform/secrets.ts',
  ],
};

function importedNames(program: Node): Set<string> {
  const names = new Set<string>();
  for (const [node] of walk(program)) {
    if (node.type !== 'ImportSpecifier') continue;
    names.add(String((node['imported'] as Node)['name']));
  }
  return names;
}

/** An empty collection at module level, unless its declared type is read-only. */
function isKept(node: Node, above: readonly Node[]): boolean {
  const empty = node.type === 'NewExpression' && (node['arguments'] as unknown[]).length === 0;
  if (!empty || !['Map', 'Set', 'Array'].includes(dotted(node['callee']))) return false;
  if (above.some((outer) => /Function|Class|Method/.test(outer.type))) return false;
  const declared =
    above[0]?.type === 'VariableDeclarator' ? ((above[0]['id'] as Node)['typeAnnotation'] as Node | null) : null;
  const name = dotted((declared?.['typeAnnotation'] as Node | undefined)?.['typeName']);
  return name === '' || ['Map', 'Set', 'Array'].includes(name);
}

function ambientProblems(files: readonly Source[]): string[] {
  const problems: string[] = [];
  for (const file of files) {
    const used = new Set<string>();
    for (const [node, above] of walk(file.program)) {
      if (node.type === 'MemberExpression') used.add(dotted(node));
      const plain =
        (node.type === 'NewExpression' || node.type === 'CallExpression') && dotted(node['callee']) === 'Date';
      if (plain && (node['arguments'] as unknown[]).length === 0) used.add('Date.now');
      if (node.type === 'CallExpression' && dotted(node['callee']) === 'fetch') used.add('fetch');
      const destructured = node.type === 'VariableDeclarator' && (node['id'] as Node).type === 'ObjectPattern';
      const from = destructured ? dotted(node['init']) : '';
      used.add(`${from} taken apart`);
      if (node.type === 'TSAnyKeyword') problems.push(`${file.path} has a value of type any`);
      if (node.type === 'VariableDeclaration' && above[0]?.type === 'Program' && node['kind'] !== 'const') {
        problems.push(`${file.path} keeps state in its module`);
      }
      if (isKept(node, above)) problems.push(`${file.path} keeps state in its module`);
    }
    for (const name of importedNames(file.program)) used.add(name);
    if (file.imports.some(({ specifier }) => /^(?:node:)?process$/.test(specifier))) used.add('node:process imported');
    for (const name of used) {
      const places = Object.hasOwn(AMBIENT, name) ? AMBIENT[name] : undefined;
      if (places?.includes(file.path) === false) problems.push(`${file.path} uses ${name}`);
    }
  }
  return problems;
}

/** The module of a file, as named in the table of owners. */
function partOf(file: string): string {
  return /^src\/domain\/([^/]+)\//.exec(file)?.[1] ?? /^src\/([^/.]+)/.exec(file)?.[1] ?? file;
}

/** The texts of a file that are SQL: templates tagged `sql`, what `raw(…)` is given, and uses of tables as values. */
function sqlTexts(file: Source): string[] {
  const texts: string[] = [];
  const quasis = (template: Node): string =>
    (template['quasis'] as Node[]).map((quasi) => (quasi['value'] as { raw: string }).raw).join(' ? ');
  for (const [node, above] of walk(file.program)) {
    const [, table] = node.type === 'MemberExpression' ? (/^tables\.(\w+)$/.exec(dotted(node)) ?? []) : [];
    const isWrite = ['insertInto', 'update', 'deleteFrom'].includes(dotted(above[0]?.['callee']));
    if (table !== undefined) texts.push(`${isWrite ? 'INTO' : 'FROM'} ${table}`);
    if (node.type === 'TaggedTemplateExpression' && dotted(node['tag']) === 'sql')
      texts.push(quasis(node['quasi'] as Node));
    if (node.type !== 'CallExpression' || dotted(node['callee']) !== 'raw') continue;
    for (const [inner] of walk(node)) {
      if (inner.type === 'TemplateLiteral') texts.push(quasis(inner));
      if (inner.type === 'Literal') texts.push(String(inner['value']));
    }
  }
  return texts;
}

function tableProblems(files: readonly Source[], tables: Readonly<Record<string, Ownership>>): string[] {
  const problems = new Set<string>();
  for (const file of files) {
    const part = partOf(file.path);
    for (const text of sqlTexts(file)) {
      const named = text.matchAll(
        /\b(DELETE\s+FROM|FROM|JOIN|INTO|UPDATE|TABLE|TRUNCATE|USING|ON)\s+(?:ONLY\s+)?"?([a-z_]+)"?(?!\s*\.)/gi,
      );
      for (const [, verb = '', table = ''] of named) {
        const known = Object.hasOwn(tables, table) ? tables[table] : undefined;
        if (known === undefined || known.owner === part) continue;
        const writes = /INTO|UPDATE|DELETE|TABLE|TRUNCATE|ON/i.test(verb) && !/^(?:FROM|JOIN|USING)$/i.test(verb);
        const allowed = writes ? known.writes : { ...known.reads, ...known.writes };
        if (!Object.hasOwn(allowed ?? {}, part)) {
          problems.add(`${file.path} ${writes ? 'writes' : 'reads'} ${table}, which is of ${known.owner}`);
        }
      }
    }
  }
  return [...problems];
}

function migratedTables(): string[] {
  return filesBelow('db/migrations', ['.sql'])
    .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
    .flatMap((text) =>
      [...text.matchAll(/^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?"?([a-z_]+)"?/gim)].map(
        (match) => match[1] ?? '',
      ),
    )
    .concat('schema_migrations'); // The migrator creates it.
}

function shapeProblems(files: readonly { path: string; text: string }[]): string[] {
  const problems: string[] = [];
  for (const { path: file, text } of files) {
    const named = file
      .split('/')
      .every((part) => /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.db|\.slow|\.browser)?(?:\.test|\.cases)?(?:\.ts)?$/.test(part));
    if (!named) problems.push(`${file} is not named in kebab-case`);
    // Put together here, so that this file does not accuse itself.
    const excuses = [
      '@ts-(?:ig',
      'nore|expect|nocheck)|\\bTO',
      'DO\\b|\\bFIX',
      'ME\\b|(?:biome|oxlint|eslint)-(?:ig',
      'nore|disable)',
    ];
    const excuse = new RegExp(excuses.join('')).exec(text)?.[0];
    // This file proves that misspelt names do not compile.
    const proof = file === 'test/closed-unions.test.ts' && excuse === ['@ts-', 'expect'].join('');
    if (excuse !== undefined && !proof) problems.push(`${file} has an excuse: ${excuse}`);
  }
  return problems;
}

const VISIBILITY_RULE = 'src/contract/comment-visibility.ts';

/**
 * Places that spell the rule of comment visibility themselves: a comparison of `visibility` with a string, in TypeScript or in
 * SQL, or the right of internal comments by name. `visibility` of a knowledge base is another property.
 */
const knowsVisibilities = (file: Source): boolean => file.imports.some(({ target }) => target === VISIBILITY_RULE);

function visibilityProblems(files: readonly Source[]): string[] {
  const problems = new Set<string>();
  const isText = (node: unknown): boolean => typeof (node as Node | null)?.['value'] === 'string';
  const isVisibility = (node: unknown): boolean => /(?:^|[.])(?:\w*V|v)isibility$/.test(dotted(node));
  for (const file of files) {
    if (file.path === VISIBILITY_RULE || /[/]knowledge(?:-bases)?[/]/.test(file.path)) continue;
    for (const [node, above] of walk(file.program)) {
      const { left, right, discriminant } = node as Node & Record<'left' | 'right' | 'discriminant', unknown>;
      const compared =
        node.type === 'BinaryExpression' &&
        ((isVisibility(left) && isText(right)) || (isVisibility(right) && isText(left)));
      if (compared || (node.type === 'SwitchStatement' && isVisibility(discriminant)))
        problems.add(`${file.path} compares a visibility`);
      const named = node.type === 'Literal' && (node['value'] === 'Private Comment' || node['value'] === 'internal');
      if (named && file.path !== 'src/contract/rights.ts' && above[0]?.type !== 'Property')
        problems.add(`${file.path} names '${String(node['value'])}'`);
      const { key, value } = node as Node & Record<'key' | 'value', Node | undefined>;
      const given = node.type === 'Property' && key?.['name'] === 'visibility' && value?.['value'] === 'public';
      if (given || (node.type === 'Literal' && node['value'] === 'public' && knowsVisibilities(file)))
        problems.add(`${file.path} names 'public'`);
    }
    for (const text of sqlTexts(file)) {
      if (/visibility'?\s*(?:=|<>|!=|IN\b|IS\b|~)\s*(?:NOT\s+)?(?:DISTINCT\s+FROM\s+)?[(]?'/i.test(text))
        problems.add(`${file.path} compares a visibility in SQL`);
    }
  }
  return [...problems];
}

/** Files that compare `state` with a literal themselves. Versions of articles have a third state and rules of their own. */
function stateProblems(files: readonly Source[]): string[] {
  const own = /^src[/](?:contract[/]state|domain[/]knowledge[/](?:audiences|commands|queries|versions))[.]ts$/;
  const compares = ([node]: readonly [Node, ...unknown[]]): boolean => {
    if (node.type !== 'BinaryExpression') return false;
    const left = node['left'] as Node;
    const compared = left.type === 'ChainExpression' ? left['expression'] : left;
    const literal = String((node['right'] as Node)['value']);
    return /(?:^|[.])state$/.test(dotted(compared)) && ['ACTIVE', 'ARCHIVED'].includes(literal);
  };
  return files
    .filter((file) => !own.test(file.path) && [...walk(file.program)].some(compares))
    .map((file) => file.path);
}

/** Files that may name transactions, snapshots and log positions. Two of them are about replication; the order of commits is one file. */
const ORDER_OF_COMMITS = [
  'src/platform/journal/positions.ts',
  'src/platform/database/readings.ts',
  'src/platform/database/replica.ts',
];

/** Files besides those that name what PostgreSQL numbers transactions with. They ask `platform/journal/positions.ts` instead. */
function orderProblems(files: readonly Source[]): string[] {
  const named = /\b(?:txid\w*|xid8?|xmin|xmax|pg_(?!\w*advisory)\w*(?:snapshot|xact|wal|lsn)\w*)\b/i;
  return files.flatMap(({ path: file, text }) => {
    const name = ORDER_OF_COMMITS.includes(file) ? undefined : named.exec(text)?.[0];
    return name === undefined ? [] : [`${file} names ${name}`];
  });
}

const HOOKS = new Set(['before', 'after', 'beforeEach', 'afterEach']);
const RUNNERS = /^(?:test|it|describe|suite)(?:\.|$)/;
/** These pass a transaction to the code under test. Others use `duringTransaction`, which may wait and always gives it back. */
const TRANSACTIONS = /batching|cells|doctor-deep|feed|history-replay/;

/** Hooks at the top of a file run for the tests of every file that shares its process; tests that do not run prove nothing. */
function testProblems(files: readonly Source[]): string[] {
  const problems: string[] = [];
  for (const file of files) {
    let ran = 0;
    for (const [node, above] of walk(file.program)) {
      if (node.type !== 'CallExpression') continue;
      const name = dotted(node['callee']);
      if (RUNNERS.test(name)) ran++;
      const inDescribe = above.some(
        (outer) => outer.type === 'CallExpression' && /^(?:describe|suite)$/.test(dotted(outer['callee'])),
      );
      if (HOOKS.has(name.replace(/^(?:test|it)\./, '')) && !inDescribe)
        problems.push(`${file.path} has a hook outside of describe`);
      if (/\bdb\.connect$/.test(name) || (/\bdb\.transaction$/.test(name) && !TRANSACTIONS.test(file.path)))
        problems.push(`${file.path} calls ${name}`);
      if (/\.(?:skip|only|todo)$/.test(name)) problems.push(`${file.path} calls ${name}`);
      if (!RUNNERS.test(name)) continue;
      for (const option of node['arguments'] as Node[]) {
        for (const property of (option.type === 'ObjectExpression' ? option['properties'] : []) as Node[]) {
          const key = String((property['key'] as Node | undefined)?.['name']);
          if (/^(?:skip|only|todo)$/.test(key)) problems.push(`${file.path} has a test with ${key}`);
        }
      }
    }
    if (ran === 0) problems.push(`${file.path} has no test`);
  }
  return problems;
}

const bad = (file: string, text: string): Source[] => [parseSource(file, text)];

describe('conventions of the source code', () => {
  it('uses no ambient state', () => {
    assert.ok(service.length >= 50);
    assert.deepEqual(ambientProblems(service), []);
    for (const [text, name] of [
      ['const a = process.env;', 'process.env'],
      ["const a = process['env'];", 'process.env'],
      ["import { env } from 'node:process';", 'node:process imported'],
      ['const { now } = Date;', 'Date taken apart'],
      ['const a = Date.now();', 'Date.now'],
      ['const a = new Date();', 'Date.now'],
      ['const a = Temporal.Now.instant();', 'Temporal.Now'],
      ['const a = Math.random();', 'Math.random'],
      ["const a = await fetch('https://example.org');", 'fetch'],
      ["import { AsyncLocalStorage } from 'node:async_hooks';", 'AsyncLocalStorage'],
      ["import { randomBytes } from 'node:crypto';", 'randomBytes'],
    ] as const) {
      assert.deepEqual(ambientProblems(bad('src/lib/a.ts', text)), [`src/lib/a.ts uses ${name}`], text);
    }
    assert.deepEqual(ambientProblems(bad('src/lib/a.ts', 'const a = b as any;')), [
      'src/lib/a.ts has a value of type any',
    ]);
    for (const text of ['let a = 1;', 'const a = new Map();', 'export const a = { b: new Set<string>() };']) {
      assert.deepEqual(ambientProblems(bad('src/lib/a.ts', text)), ['src/lib/a.ts keeps state in its module'], text);
    }
    assert.deepEqual(
      ambientProblems(bad('src/lib/a.ts', 'const a = new Date(0); function f() { let b = new Map(); }')),
      [],
    );
  });

  it('lets each module write only its own tables', () => {
    assert.deepEqual(
      migratedTables().filter((table) => !Object.hasOwn(TABLES, table)),
      [],
    );
    assert.deepEqual(
      Object.keys(TABLES).filter((table) => !migratedTables().includes(table)),
      [],
    );
    assert.deepEqual(tableProblems(service, TABLES), []);
    assert.deepEqual(
      tableProblems(bad('src/domain/access/store.ts', 'const a = sql`UPDATE objects SET title = 1`;'), TABLES),
      ['src/domain/access/store.ts writes objects, which is of objects'],
    );
    assert.deepEqual(
      tableProblems(bad('src/domain/objects/store.ts', 'const a = sql`SELECT ${b} FROM api_keys`;'), TABLES),
      ['src/domain/objects/store.ts reads api_keys, which is of access'],
    );
    assert.deepEqual(tableProblems(bad('src/domain/comments/store.ts', 'update(tables.objects, {});'), TABLES), [
      'src/domain/comments/store.ts writes objects, which is of objects',
    ]);
    assert.deepEqual(tableProblems(bad('src/domain/objects/store.ts', "columns(tables.api_keys, 'k');"), TABLES), [
      'src/domain/objects/store.ts reads api_keys, which is of access',
    ]);
    assert.deepEqual(tableProblems(bad('src/domain/objects/store.ts', 'const a = sql`DELETE FROM users`;'), TABLES), [
      'src/domain/objects/store.ts writes users, which is of identity',
    ]);
    assert.deepEqual(tableProblems(bad('src/cli/a.ts', "raw('SELECT 1 FROM x JOIN journal j ON true');"), TABLES), [
      'src/cli/a.ts reads journal, which is of platform',
    ]);
  });

  it('enforces kebab-case names, without markers of unfinished work', () => {
    assert.ok(everything.length >= 70);
    assert.deepEqual(shapeProblems(everything), []);
    assert.deepEqual(shapeProblems([{ path: 'src/lib/a.ts', text: 'x' }]), []);
    for (const file of ['src/lib/fooBar.ts', 'src/Lib/a.ts', 'src/lib/foo_bar.test.ts']) {
      assert.deepEqual(shapeProblems([{ path: file, text: '' }]), [`${file} is not named in kebab-case`]);
    }
    assert.deepEqual(shapeProblems([{ path: 'src/lib/a.ts', text: `// ${'TO'}${'DO'} later` }]), [
      `src/lib/a.ts has an excuse: ${'TO'}${'DO'}`,
    ]);
  });

  it('has one rule who may see a comment', () => {
    const product = [
      ...service,
      ...filesBelow('web/src', ['.ts', '.tsx']).map((file) =>
        parseSource(file, readFileSync(path.join(ROOT, file), 'utf8')),
      ),
    ];
    assert.deepEqual(visibilityProblems(product), []);
    for (const [text, problem] of [
      ["if (row.visibility === 'public') f();", 'compares a visibility'],
      ["const a = 'team' !== visibility;", 'compares a visibility'],
      ["if (comment?.visibility === 'public') f();", 'compares a visibility'],
      ["add({ visibility: 'public' });", "names 'public'"],
      ["import { a } from '../contract/comment-visibility.ts'; const b = c ?? 'public';", "names 'public'"],
      ["const a = sql`SELECT 1 WHERE j.data->>'visibility' = 'public'`;", 'compares a visibility in SQL'],
      ['switch (comment.visibility) {}', 'compares a visibility'],
      ["const a = b ? 'internal' : c;", "names 'internal'"],
      ["object.right.can('Private Comment');", "names 'Private Comment'"],
      ["const a = sql`SELECT 1 FROM comments c WHERE c.visibility = 'public'`;", 'compares a visibility in SQL'],
      ["const a = sql`SELECT 1 FROM comments WHERE visibility IN ('public')`;", 'compares a visibility in SQL'],
    ] as const) {
      assert.deepEqual(visibilityProblems(bad('src/lib/a.ts', text)), [`src/lib/a.ts ${problem}`], text);
    }
    const stored = /CONSTRAINT comments_visibility_check CHECK [(](.*)[)]/.exec(
      readFileSync(path.join(ROOT, 'db/schema.sql'), 'utf8'),
    )?.[1];
    assert.deepEqual(
      [...(stored ?? '').matchAll(/'(\w+)'/g)].map(([, name]) => name),
      [...COMMENT_VISIBILITIES],
      'comments.visibility allows exactly the declared visibilities',
    );
  });

  it('has one rule what is active and what is archived', () => {
    assert.deepEqual(stateProblems(service), []);
    for (const text of ["if (row.state === 'ACTIVE') f();", "f(user?.state !== 'ARCHIVED');", "f(state === 'ACTIVE');"])
      assert.deepEqual(stateProblems(bad('src/lib/a.ts', text)), ['src/lib/a.ts'], text);
  });

  it('knows the order of commits in one place', () => {
    assert.deepEqual(orderProblems(service), []);
    const unused = ORDER_OF_COMMITS.filter(
      (allowed) =>
        orderProblems(service.flatMap((file) => (file.path === allowed ? { ...file, path: 'a' } : []))).length === 0,
    );
    assert.deepEqual(unused, [], 'files that are allowed to and do not');
    for (const [text, name] of [
      ['const a = sql`SELECT 1 FROM journal j WHERE j.txid >= ${b}::xid8`;', 'txid'],
      ['const a = `SELECT pg_current_snapshot()`;', 'pg_current_snapshot'],
      ["const a = raw('o.xmin');", 'xmin'],
      ['const a = sql`SELECT pg_current_wal_lsn()`;', 'pg_current_wal_lsn'],
    ] as const) {
      assert.deepEqual(orderProblems(bad('src/lib/a.ts', text)), [`src/lib/a.ts names ${name}`], text);
    }
  });

  it('runs every test file, and no hook outside its own file', () => {
    assert.ok(tests.length >= 8);
    assert.deepEqual(testProblems(tests), []);
    for (const [text, problem] of [
      ["before(() => {}); it('a', () => {});", 'has a hook outside of describe'],
      ["test.beforeEach(() => {}); test('a', () => {});", 'has a hook outside of describe'],
      ["it.skip('a', () => {});", 'calls it.skip'],
      ["describe.only('a', () => {});", 'calls describe.only'],
      ["it('a', { todo: true }, () => {});", 'has a test with todo'],
      ["it('a', (t) => t.skip());", 'calls t.skip'],
      ["it('a', () => app.db.connect());", 'calls app.db.connect'],
      ['const a = 1;', 'has no test'],
    ] as const) {
      assert.deepEqual(testProblems(bad('test/a.test.ts', text)), [`test/a.test.ts ${problem}`], text);
    }
    assert.deepEqual(
      testProblems(bad('test/a.test.ts', "describe('a', () => { before(() => {}); it('b', () => {}); });")),
      [],
    );
  });
});

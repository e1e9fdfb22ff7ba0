/** The JSON Schema of the bundle agrees with what checks bundles. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { SECTIONS } from '../../test/support/bundle-fixture.ts';
import { filesBelow, ROOT } from '../../test/support/source-files.ts';
import { isObject } from '../lib/json.ts';
import { bundleSchema } from './bundle-schema.ts';
import { shapeProblems } from './read.ts';

type Path = readonly (string | number)[];

const fits = new Ajv({ strict: false }).compile(bundleSchema(SECTIONS));

/** Every bundle of the repository, by its file: those in folders and those in the documentation. */
function examples(): [string, Record<string, unknown>][] {
  const inFolders = ['config', 'examples'].flatMap((folder) => filesBelow(folder, ['.yaml']));
  const pages = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const texts = [
    ...inFolders.map((file): [string, string] => [file, readFileSync(path.join(ROOT, file), 'utf8')]),
    ...pages
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) =>
        [...readFileSync(path.join(ROOT, 'docs', name), 'utf8').matchAll(/^```yaml[^\n]*\n([^]*?)^```$/gm)].map(
          ([, text = '']): [string, string] => [name, text],
        ),
      ),
  ];
  const keys = new Set(SECTIONS.map(({ key }) => key));
  return texts
    .map(([file, text]): [string, unknown] => [file, parse(text, { merge: true, maxAliasCount: -1 })])
    .filter((pair): pair is [string, Record<string, unknown>] => {
      const [file, content] = pair;
      return isObject(content) && (!file.endsWith('.md') || Object.keys(content).every((key) => keys.has(key)));
    });
}

/** True if the service refuses the file for its structure. */
function isRefused(content: Record<string, unknown>): boolean {
  return Object.entries(content).some(([key, value]) => {
    const section = SECTIONS.find((one) => one.key === key);
    if (section === undefined) return true;
    if (section.shape === 'map') return shapeProblems(section.schema, value).length > 0;
    if (value === null) return false;
    return !Array.isArray(value) || value.some((item) => shapeProblems(section.schema, item).length > 0);
  });
}

/** Numbers from 0 up to 1, the same in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function placesIn(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const members: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [at, ...members.flatMap(([name, member]) => placesIn(member, [...at, name]))];
}

const REPLACEMENTS: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e12,
  '',
  'x y',
  'ю',
  'x'.repeat(5000),
  [],
  {},
  [[]],
  { x: 1 },
];

/** The content with one random change: a member replaced, removed, renamed, repeated or added. */
function mutated(
  content: Record<string, unknown>,
  random: () => number,
): { content: Record<string, unknown>; at: Path } {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const copy = structuredClone(content);
  const at = pick(placesIn(copy).slice(1));
  const parent = at.slice(0, -1).reduce((value: unknown, step) => (value as Record<string, unknown>)[step], copy);
  const name = at.at(-1) as string;
  const holder = parent as Record<string, unknown>;
  const kind = pick(['replace', 'replace', 'remove', 'rename', 'repeat']);
  if (kind === 'replace') holder[name] = pick(REPLACEMENTS);
  else if (Array.isArray(parent)) parent.push(kind === 'repeat' ? structuredClone(holder[name]) : 'unexpected value');
  else {
    if (kind === 'rename') holder[`${name}x`] = holder[name];
    if (kind === 'repeat') holder['unheardOf'] = 1;
    else delete holder[name];
  }
  return { content: copy, at };
}

type Schema = ReturnType<typeof bundleSchema>;

const lastOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** What an editor shows: the description beside the property, else that of what it refers to. */
function shownAt(schema: Schema, definitions: Record<string, Schema>): string {
  const { description, $ref, allOf = [] } = schema;
  if (description !== undefined) return description;
  const referred = $ref === undefined ? undefined : definitions[lastOf($ref)];
  return [...(referred === undefined ? [] : [referred]), ...allOf]
    .map((one) => shownAt(one, definitions))
    .join(' ')
    .trim();
}

/** Every property below the schema, with its path and what an editor shows; each definition is followed once on a path. */
function* propertiesOf(
  schema: Schema,
  definitions: Record<string, Schema>,
  at: string,
  above: ReadonlySet<string> = new Set(),
): Generator<[at: string, description: string]> {
  const { $ref, items, additionalProperties, properties = {}, patternProperties = {} } = schema;
  const members = Object.entries({ ...properties, ...(patternProperties as Record<string, Schema>) });
  for (const [name, member] of members) {
    for (const { $ref: shape = '' } of member.description === undefined ? [] : (member.allOf ?? [])) {
      assert.equal(
        definitions[lastOf(shape)]?.description,
        undefined,
        `${at}.${name} shows the description of ${shape}`,
      );
    }
    yield [`${at}.${name}`, shownAt(member, definitions)];
    yield* propertiesOf(member, definitions, `${at}.${name}`, above);
  }
  const branches = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (list ?? []) as Schema[]);
  const inside = [...branches, ...(items === undefined ? [] : [items])];
  if (typeof additionalProperties === 'object') {
    const values = additionalProperties as Schema;
    yield [`${at}.*`, shownAt(values, definitions)];
    inside.push(values);
  }
  for (const one of inside) yield* propertiesOf(one, definitions, at, above);
  const name = $ref === undefined ? undefined : lastOf($ref);
  if (name !== undefined && !above.has(name)) {
    const referred = definitions[name];
    assert.ok(referred, name);
    yield* propertiesOf(referred, definitions, at, new Set([...above, name]));
  }
}

/** Whether the description is a sentence with three words at least that are not those of the property's name. */
function saysMore(at: string, description: string): boolean {
  const own = new Set(
    lastOf(at.replaceAll('.', '/'))
      .split(/(?=[A-Z])/)
      .map((word) => word.toLowerCase()),
  );
  const words = description.toLowerCase().match(/[a-z]+/g) ?? [];
  return description.endsWith('.') && words.filter((word) => !own.has(word)).length >= 3;
}

/** Members whose grammar is checked later: the schema says more about them. */
const CONDITIONS = new Set(['where', 'condition', 'when', 'start', 'pause', 'stop', 'filter', 'while']);

describe('the JSON Schema of the bundle', () => {
  it('accepts every bundle of the repository', () => {
    const found = examples();
    assert.ok(found.length >= 25, String(found.length));
    for (const [file, content] of found) assert.ok(fits(content), `${file}: ${JSON.stringify(fits.errors)}`);
  });

  it('refuses what the service refuses for its structure, and else nothing but conditions', () => {
    const sources = examples().map(([, content]) => content);
    const random = numbers(7);
    let refused = 0;
    for (let tried = 0; refused < 400; tried++) {
      assert.ok(tried < 5000, `only ${refused} mutations were refused`);
      const { content, at } = mutated(sources[tried % sources.length] as Record<string, unknown>, random);
      const wrong = isRefused(content);
      const context = `${at.join('.')}: ${JSON.stringify(content).slice(0, 500)}`;
      if (wrong) {
        refused++;
        assert.equal(fits(content), false, context);
      } else if (!at.some((step) => CONDITIONS.has(String(step)))) {
        assert.ok(fits(content), `${context} ${JSON.stringify(fits.errors)}`);
      }
    }
  });

  it('describes every property at every depth in words that its name does not say', () => {
    const schema = bundleSchema(SECTIONS);
    const found = [...propertiesOf(schema, schema.definitions ?? {}, '')];
    const wanting = found.flatMap(([at, description]) => (saysMore(at, description) ? [] : [`${at}: ${description}`]));
    assert.deepEqual([...new Set(wanting)], []);
    assert.ok(found.length >= 350, String(found.length));
  });

  it('describes every section and refers to every definition', () => {
    const schema = bundleSchema(SECTIONS);
    for (const { key } of SECTIONS) assert.match(schema.properties?.[key]?.description ?? '', /^[A-Z].*\.$/);
    const text = JSON.stringify(schema);
    for (const name of Object.keys(schema.definitions ?? {}))
      assert.match(text, new RegExp(`definitions/${name}"`), name);
    assert.doesNotMatch(text, /phrase|"~/);
  });
});

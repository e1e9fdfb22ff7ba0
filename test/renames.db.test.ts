/** Renames with `was`: every place that names a code follows (docs/spec/configuration.md#renames). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import sql from 'sql-template-tag';
import { parse, stringify } from 'yaml';
import type { NamingSchema } from '../src/configuration/naming.ts';
import type { Fault } from '../src/lib/fault.ts';
import { type BundleFixture, changed, file, SECTIONS, startBundleFixture } from './support/bundle-fixture.ts';

/** Every code that can be renamed starts with `zz` and is used once in every place that can name it. */
const WORLD = `
users: [ { login: anna } ]
groups: [ { code: desk, users: [anna] } ]
services: [ { code: zzservice } ]
types:
  - code: zzcase
    title: zztitle
    workflow: zzflow
    fields:
      - { code: zztitle, dataType: string, search: { filter: true } }
      - { code: zzimpact, dataType: enum, default: zzlow, constraints: { options: [ { code: zzhigh }, { code: zzlow } ] }, search: { filter: true } }
      - { code: zzuser, dataType: user }
      - { code: zzservice2, dataType: service, default: zzservice }
      - { code: zzref, dataType: reference, constraints: { types: [zzcase] } }
    layout: { sections: [ { fields: [zztitle, zzimpact] } ] }
workflows:
  - code: zzflow
    initial: zznew
    states: [ { code: zznew, category: open }, { code: zzdone, category: done } ]
    transitions:
      - { code: zzclose, from: [zznew], to: zzdone, condition: { field: zzimpact, operator: in, value: [zzhigh, zzlow] }, fields: [ { code: zztitle } ], set: { zzimpact: zzlow, zzservice2: zzservice, zzuser: $me } }
      - { code: zzopen, from: '*', to: zznew }
roles:
  - code: zzrole
    records:
      - type: zzcase
        where: { logic: AND, conditions: [ { field: zzimpact, operator: equals, value: zzhigh }, { field: workflowState, operator: in, value: [zznew, zzdone] }, { field: zzservice2, operator: equals, value: zzservice } ] }
        actions: [read, transition]
        fields: { read: [zztitle, zzimpact], write: [zzimpact] }
        transitions: [zzclose]
      - { type: '*', actions: [read], fields: { read: [zztitle] }, transitions: [zzopen] }
calendars: [ { code: zzcalendar, timezone: Europe/Moscow, week: { mon: ['09:00-13:00'] } } ]
slaPolicies:
  - code: zzpolicy
    type: zzcase
    calendar: zzcalendar
    targets: [ { when: { field: zzimpact, operator: equals, value: zzhigh }, duration: PT4H }, { duration: PT8H } ]
    start: { field: workflowState, operator: equals, value: zznew }
    pause: { field: zztitle, operator: is-empty, value: true }
    stop: { field: workflowState, operator: equals, value: zzdone }
relationDefinitions: [ { code: zzrelation, sourceTypes: [zzcase], targetTypes: [zzcase], field: zzref } ]
catalogs:
  - code: zzcatalog
    categories: [ { code: zztop }, { code: zzsub, parent: zztop } ]
    items:
      - { code: zzitem, category: zzsub, service: zzservice, type: zzcase, form: [ { code: zztitle } ], requesterField: zzuser, assetField: zzref, set: { zzimpact: zzhigh }, audience: { everyone: true } }
knowledgeBases: [ { code: zzbase, visibility: internal, locales: [ru-RU], sections: [ { code: zzroot }, { code: zzleaf, parent: zzroot } ] } ]
signingSecrets: [ main ]
webhooks:
  - { code: zzhook, endpoint: 'https://hooks.example.org/x', secretRef: main, executionPrincipal: anna, eventTypes: [ObjectCreated], filters: { types: [zzcase], condition: { field: zzimpact, operator: not-equals, value: zzhigh } }, enabled: false }
integrations:
  - { code: zzinbound, type: inbound-webhook, executionPrincipal: anna, config: { command: object.create, typeDefinitionId: zzcase, mapping: [ { source: a, target: zztitle } ] } }
importDefinitions:
  - code: zzimport
    targetKind: object
    targetType: zzcase
    format: CSV
    mode: UPSERT
    sourceCode: snow
    resolver: { externalIdField: number }
    mapping: [ { source: i, target: zzimpact, transform: ['map:{"1":"zzhigh"}', 'default:zzlow'] }, { source: r, target: zzref, transform: ['lookup:zzcase.zztitle'] } ]
dashboards:
  - code: zzboard
    tiles: [ { kind: bars, title: Open, query: { types: [zzcase], measures: [count], groupBy: [zzimpact], filter: { field: zzimpact, operator: equals, value: zzhigh } } } ]
    sharedWith: { roles: [zzrole] }
macros:
  - { code: zzmacro, types: [zzcase], comment: { visibility: public, body: '{{ zztitle }} {{number}}' }, transition: zzclose, set: { zzimpact: zzhigh }, roles: [zzrole] }
`;

/** Sections in an order in which nothing is renamed twice. */
const RENAMED = [
  'services',
  'types',
  'workflows',
  'roles',
  'calendars',
  'slaPolicies',
  'relationDefinitions',
  'catalogs',
  'knowledgeBases',
  'webhooks',
  'integrations',
  'importDefinitions',
  'dashboards',
  'macros',
];

type Node = Record<string, unknown>;

/** The value with other codes, and `was` beside them where the schema takes it. @param codes old → new code */
function renamed(schema: NamingSchema, value: unknown, codes: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return withCodes(value, codes);
  if (Array.isArray(value)) return value.map((one) => renamed(schema.items ?? {}, one, codes));
  if (typeof value !== 'object' || value === null) return value;
  const { properties = {} } = schema;
  const entries = Object.entries(value).map(([name, member]) => [
    withCodes(name, codes),
    renamed(properties[name] ?? {}, member, codes),
  ]);
  const { code } = value as Node;
  const was = properties['was'] !== undefined && codes.has(code as string) ? { was: code } : {};
  return { ...Object.fromEntries(entries), ...was };
}

function withCodes(text: string, codes: ReadonlyMap<string, string>): string {
  return text.replaceAll(/zz[a-z0-9]+/g, (code) => codes.get(code) ?? code);
}

/** Codes of items and parts: every `code` beside which the schema takes `was`. */
function ownCodes(schema: NamingSchema, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => ownCodes(schema.items ?? {}, one));
  if (typeof value !== 'object' || value === null) return [];
  const { properties = {} } = schema;
  const own = properties['was'] !== undefined ? [(value as Node)['code'] as string] : [];
  return [...own, ...Object.entries(value).flatMap(([name, member]) => ownCodes(properties[name] ?? {}, member))];
}

function withoutWas(text: string): string {
  return text.replaceAll(/^ *was: .*\n/gm, '');
}

describe('a rename', () => {
  let fixture: BundleFixture;
  let initial: string;
  const exported = async (): Promise<string> => (await fixture.export(true)).map(({ text }) => text).join('');
  before(async () => {
    fixture = await startBundleFixture();
    await fixture.apply(file(WORLD));
    initial = await exported();
  });
  after(() => fixture.close());

  const recorded = new Map<string, string[]>();
  it('is followed by all sections, and changes nothing but codes', async () => {
    const ids = async (): Promise<unknown> => [
      await fixture.db.query(sql`SELECT id FROM config_items ORDER BY id`),
      await fixture.db.query(sql`SELECT id FROM config_ids ORDER BY id`),
    ];
    const before = await ids();
    for (const key of RENAMED) {
      const section = SECTIONS.find((one) => one.key === key);
      const written = (await fixture.export(true)).find(({ name }) => name === `${key}.yaml`);
      const items = (parse(written?.text ?? '') as Node)[key];
      const codes = ownCodes({ items: section?.schema as NamingSchema }, items);
      const own = new Map(codes.flatMap((code) => (code.startsWith('zz') ? [[code, `yy${code.slice(2)}`]] : [])));
      assert.ok(own.size > 0, key);
      const files = file(stringify({ [key]: renamed({ items: section?.schema as NamingSchema }, items, own) }));
      const plan = await fixture.plan(files);
      recorded.set(
        key,
        plan.flatMap(({ notes = [] }) => notes.map(({ reason }) => reason)),
      );
      await fixture.apply(files);
      const left = withoutWas(await exported());
      for (const code of own.keys())
        assert.ok(!new RegExp(`\\b${code}\\b`).test(left), `${code} of ${key} in\n${left}`);
      assert.deepEqual(changed(await fixture.plan(await fixture.export(true), { prune: true })), []);
    }
    // Items are sorted by code, so compare as sets of lines.
    const lines = (text: string): string[] => text.split('\n').sort();
    assert.deepEqual(lines(withoutWas(await exported())), lines(initial.replaceAll('zz', 'yy')));
    assert.deepEqual(await ids(), before);
    assert.ok(recorded.get('types')?.includes('FIELD_RENAMED'));
    assert.ok(recorded.get('types')?.includes('OPTION_RENAMED'));
    assert.ok(recorded.get('workflows')?.includes('STATE_RENAMED'));
    assert.ok(recorded.get('services')?.includes('ITEM_RENAMED'));
  });

  it('is kept by an export, which makes the same configuration elsewhere', async () => {
    const files = await fixture.export(true);
    assert.ok(files.some(({ text }) => /was: zzimpact/.test(text)));
    const other = await startBundleFixture();
    try {
      await other.apply(files);
      assert.deepEqual(await other.export(true), files);
    } finally {
      await other.close();
    }
  });

  it('stores where values are, and every code that the part had', async () => {
    const [row] = await fixture.db.query<{ field: Node; formerCodes: string[] }>(sql`
      SELECT compiled->'fields'->1 AS field, former_codes AS "formerCodes" FROM config_items WHERE section = 'types'`);
    const { storedAs, former, constraints } = row?.field ?? {};
    assert.deepEqual([storedAs, former], ['zzimpact', ['zzimpact']]);
    assert.deepEqual((constraints as { options: Node[] }).options[0], {
      code: 'yyhigh',
      name: 'yyhigh',
      storedAs: 'zzhigh',
      former: ['zzhigh'],
    });
    assert.deepEqual(row?.formerCodes, ['zzcase']);
  });

  const refusedWith = async (text: string, code: string, options = {}): Promise<Fault> => {
    let found: Fault | undefined;
    await assert.rejects(fixture.apply(file(text), options), (error: Fault) => {
      found = error;
      return error.code === code;
    });
    return found as Fault;
  };

  const TYPE = (fields: string): string => `types: [ { code: free, title: null, fields: [ ${fields} ] } ]\n`;

  it('frees no code for something else', async () => {
    await fixture.apply(file(TYPE('{ code: a, dataType: string }, { code: other, dataType: string }')));
    await fixture.apply(file(TYPE('{ code: b, was: a, dataType: string }, { code: other, dataType: string }')));
    await fixture.apply(file(TYPE('{ code: c, was: [x, b], dataType: string }, { code: other, dataType: string }')));
    for (const freed of ['a', 'b']) {
      const more = `{ code: c, dataType: string }, { code: other, dataType: string }, { code: ${freed}, dataType: string }`;
      const fault = await refusedWith(TYPE(more), 'CODE_NOT_REUSABLE');
      assert.match(JSON.stringify(fault.details), /types\[0\]\.fields\[2\]\.code/);
      // Swapping two codes by way of a third one would give both another meaning.
      const swapped = `{ code: c, dataType: string }, { code: ${freed}, was: other, dataType: string }`;
      await refusedWith(TYPE(swapped), 'CODE_NOT_REUSABLE');
    }
    await refusedWith(`types: [ { code: yyother, was: yycase }, { code: yycase } ]`, 'CODE_NOT_REUSABLE');
    await refusedWith(`types: [ { code: zzcase } ]`, 'CODE_NOT_REUSABLE');
    // Its own former code can come back, and the values with it.
    await fixture.apply(file(TYPE('{ code: a, was: c, dataType: string }, { code: other, dataType: string }')));
    const [row] = await fixture.db.query<{ field: Node }>(sql`
      SELECT compiled->'fields'->0 AS field FROM config_items WHERE section = 'types' AND code = 'free'`);
    assert.equal(row?.field['storedAs'], undefined);
    assert.deepEqual(row?.field['former'], ['b', 'c']);
  });

  it('is refused where it is not clear, and ignored where the old code does not exist', async () => {
    await refusedWith(
      TYPE('{ code: a, dataType: string }, { code: d, was: [a, other], dataType: string }'),
      'INVALID_REQUEST',
    );
    await refusedWith(TYPE('{ code: other, was: a, dataType: string }'), 'INVALID_REQUEST');
    assert.deepEqual(
      changed(
        await fixture.plan(
          file(TYPE('{ code: a, was: nothing, dataType: string }, { code: other, dataType: string }')),
        ),
      ),
      ['types/free change'],
    );
  });

  it('is not guessed: values are not discarded without a word', async () => {
    const insert = async (values: object): Promise<unknown> =>
      await fixture.db.query(sql`
        INSERT INTO objects (id, type_id, type_version, revision, "values", folded, created_at, updated_at)
        SELECT gen_random_uuid(), id, 1, 1, ${JSON.stringify(values)}::jsonb, '{}', now(), now() FROM config_items WHERE code = 'free'`);
    const OPTIONS = (options: string): string =>
      TYPE(
        `{ code: impact, dataType: enum, multiple: true, constraints: { options: [ ${options} ] } }, { code: other, dataType: string }`,
      );
    const discarded = { discard: ['types.free.a', 'types.free.other'] };
    await fixture.apply(file(OPTIONS('{ code: high }, { code: low }, { code: none }')), discarded);
    await insert({ impact: ['high', 'low'] });
    await insert({ impact: ['high'], other: 'x' });
    const gone = OPTIONS('{ code: low }').replace(', { code: other, dataType: string }', '');
    const plan = await fixture.plan(file(gone));
    const lost = [
      { path: 'types.free.impact.high', kind: 'option', records: 2 },
      { path: 'types.free.impact.none', kind: 'option', records: 0 },
      { path: 'types.free.other', kind: 'field', records: 1 },
    ];
    assert.deepEqual(plan[0]?.lost, lost);
    assert.match(plan[0]?.note ?? '', /2 records hold types.free.impact.high/);
    const some = await refusedWith(gone, 'VALUES_WOULD_BE_LOST', { discard: ['types.free.other'] });
    const details = some.details as unknown as { path: string; code: string; records: number }[];
    assert.deepEqual(
      details.map(({ path, code, records }) => ({ path, code, records })),
      [
        { path: 'types.free.impact.high', code: 'VALUES_WOULD_BE_LOST', records: 2 },
        // Held or not: the refusal must not show it.
        { path: 'types.free.impact.none', code: 'VALUES_WOULD_BE_LOST', records: 0 },
      ],
    );
    await fixture.apply(file(gone), { discard: lost.map(({ path }) => path) });
    assert.deepEqual(changed(await fixture.apply(file(gone))), []);
  });
});

describe('renames of any codes at once', () => {
  let fixture: BundleFixture;
  before(async () => {
    fixture = await startBundleFixture();
    await fixture.apply(file(WORLD));
  });
  after(() => fixture.close());

  /** The lines of all items without `was`, sorted: items are sorted by code. */
  const lines = async (version?: number): Promise<string[]> => {
    const files = (await fixture.export(false, version)).map(({ text }) => parse(text) as Node);
    const items = files.flatMap((one) => Object.values(one).filter((list) => Object.keys(list as Node).length > 0));
    const plain = JSON.stringify(items, (name, value: unknown) => (name === 'was' ? undefined : value));
    return stringify(JSON.parse(plain)).split('\n').sort();
  };
  const newest = async (): Promise<number> => {
    const [row] = await fixture.db.query<{ version: number }>(sql`SELECT config AS version FROM cache_versions`);
    return row?.version ?? 0;
  };
  const translated = (list: readonly string[], codes: ReadonlyMap<string, string>): string[] =>
    list.map((line) => withCodes(line, codes)).sort();
  it('keep the bundle, and what each older version shows', async () => {
    const initial = await lines();
    /** Present code → first code. */
    const first = new Map<string, string>();
    const history = new Map([[await newest(), initial]]);
    let next = 0;
    const round = async (picks: readonly number[]): Promise<void> => {
      const bundle = (await fixture.export(false)).flatMap(({ text }) => Object.entries(parse(text) as Node));
      const schemaOf = (key: string): NamingSchema => {
        const found = SECTIONS.find((section) => section.key === key);
        return found?.shape === 'list' ? { items: found.schema as NamingSchema } : {};
      };
      const all = bundle.flatMap(([key, items]) => ownCodes(schemaOf(key), items));
      const own = all.filter((code) => code.startsWith('zz'));
      const codes = new Map(picks.map((pick) => [own[pick % own.length] ?? '', `zz${next++}n`]));
      for (const [from, to] of codes) {
        first.set(to, first.get(from) ?? from);
        first.delete(from);
      }
      // Only the sections in which something is renamed; the others follow.
      const files = bundle.flatMap(([key, items]) =>
        ownCodes(schemaOf(key), items).some((code) => codes.has(code))
          ? file(stringify({ [key]: renamed(schemaOf(key), items, codes) }), `${key}.yaml`)
          : [],
      );
      await fixture.apply(files);
      assert.deepEqual(translated(await lines(), first), initial);
      history.set(await newest(), await lines());
      for (const [version, then] of history) assert.deepEqual(await lines(version), then);
    };
    await fc.assert(fc.asyncProperty(fc.noShrink(fc.array(fc.nat(), { minLength: 1, maxLength: 20 })), round), {
      numRuns: 12,
    });
  });
});

describe('schemas of sections', () => {
  /** Places whose codes name nothing in the configuration. */
  const FREE: ReadonlySet<string> = new Set(['importDefinitions.sourceCode']);
  const CODES: ReadonlySet<string> = new Set(['^[a-z][a-z0-9-]{0,62}$', '^[a-zA-Z][a-zA-Z0-9_]{0,62}$']);

  function* unexplained(schema: any, path: string, listed: boolean): Generator<string> {
    if (schema.names !== undefined || FREE.has(path)) return;
    if (CODES.has(schema.pattern) || (schema.type === undefined && schema.anyOf === undefined)) {
      if (schema.const === undefined) yield path;
      return;
    }
    if (schema.additionalProperties === true) yield path;
    for (const branch of schema.anyOf ?? []) yield* unexplained(branch, path, listed);
    if (schema.items !== undefined) yield* unexplained(schema.items, `${path}[]`, true);
    const { code, was, ...others } = schema.properties ?? {};
    const named = code?.names !== undefined || code?.anyOf !== undefined;
    if (code !== undefined && !named && (was === undefined || (schema.part === undefined && listed)))
      yield `${path}.code`;
    if (named) yield* unexplained(code, `${path}.code`, false);
    for (const [name, member] of Object.entries(others)) yield* unexplained(member, `${path}.${name}`, false);
  }

  it('say of every code what it means, so that renames and "used by" find it', () => {
    for (const section of SECTIONS) {
      // Users, groups and units, and the plain codes of signing secrets, are not renamed in a bundle.
      const own = section.renamable ? [] : [`${section.key}`, `${section.key}.code`];
      const found = [...unexplained(section.schema, section.key, false)].filter((path) => !own.includes(path));
      assert.deepEqual(found, []);
    }
  });
});

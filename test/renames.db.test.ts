/** Renames with `was`: every place that names a code follows (docs/spec/configuration.md#renames). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import { parse, stringify } from 'yaml';
import type { NamingSchema } from '../src/configuration/naming.ts';
import type { Fault } from '../src/lib/fault.ts';
import { type BundleFixture, changed, file, SECTIONS, startBundleFixture } from './harness/bundle-fixture.ts';

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

/** The items with new codes of their own and of their parts. Other things keep their codes. */
function renamedItems(items: unknown, own: ReadonlySet<string>): unknown {
  const renamed = (text: string): string =>
    text.replaceAll(/zz[a-z0-9]+/g, (code) => (own.has(code) ? `yy${code.slice(2)}` : code));
  const walk = (value: unknown, part: boolean): unknown => {
    if (typeof value === 'string') return renamed(value);
    if (Array.isArray(value)) return value.map((one) => walk(one, true));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, member]) => [renamed(name), walk(member, false)]);
    const { code } = value as Node;
    return { ...Object.fromEntries(entries), ...(part && own.has(code as string) ? { was: code } : {}) };
  };
  return walk(items, true);
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
      const own = new Set(
        ownCodes({ items: section?.schema as NamingSchema }, items).filter((code) => code.startsWith('zz')),
      );
      assert.ok(own.size > 0, key);
      const files = file(stringify({ [key]: renamedItems(items, own) }));
      const plan = await fixture.plan(files);
      recorded.set(
        key,
        plan.flatMap(({ notes = [] }) => notes.map(({ reason }) => reason)),
      );
      await fixture.apply(files);
      const left = withoutWas(await exported());
      for (const code of own) assert.ok(!new RegExp(`\\b${code}\\b`).test(left), `${code} of ${key} in\n${left}`);
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

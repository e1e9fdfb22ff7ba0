/**
 * The largest legal input of every operation, for the event loop test: both the request and the stored data that the operation
 * reads. `MINIMAL` lists operations whose input and response are limited to a few kilobytes; they are measured with the call of
 * the access test.
 */
import { randomUUID } from 'node:crypto';
import type { TestApp } from './app.ts';
import { LARGE_CONFIGURATIONS, repeat } from './largest-configurations.ts';
import { KINDS, LONG_FIELDS, LONGEST, longValues, richTexts, textOf } from './largest-texts.ts';
import { MODULES } from '../../src/modules.ts';
import { operationsOf } from '../../src/platform/module.ts';
import { isRecordRead, WORLD } from './operation-calls.ts';
import type { Large } from './operation-calls-case.ts';
import { explained, fileOf } from './operation-calls-desk.ts';
import { idOf, stored } from './small-configuration.ts';

export const MINIMAL = 'minimal';

export type LargeRow = typeof MINIMAL | ((seen: Seeded) => Promise<Large[]> | Large[]);

const LONG_COLUMNS = ['title', 'type', 'long0', 'long1', 'number'];
const BODY = 10 * 1024 * 1024 - 1000;

/** The configuration of the access test with long fields. */
export const LARGE_CONFIGURATION = WORLD.replace(
  '      - { code: picture, dataType: rich-text }\n',
  `      - { code: picture, dataType: rich-text }\n      - { code: data, dataType: json }\n${Array.from(
    { length: LONG_FIELDS },
    (_, index) => `      - { code: long${index}, dataType: text }\n`,
  ).join('')}`,
);

/** The stored data before the calls. */
export interface Seeded {
  app: TestApp;
  /** The id of a record with long texts, with comments and a long history. */
  record: string;
  /** A call below `/api/v1` with every right; gives the answer's `data`. */
  send(method: string, path: string, body?: unknown): Promise<any>;
}

const COPIES = 8;
const COMMENTS = 60;

/** Makes records with long texts, many comments and history, by copies in the database. */
export async function seedLarge(app: TestApp, send: Seeded['send']): Promise<Seeded> {
  const values = { title: 'Banana harvest', ...longValues('different words') };
  const { id } = await send('POST', '/objects', { typeDefinitionId: 'thing', values });
  const body = textOf('different words', LONGEST);
  await send('POST', `/objects/${id}/comments`, { body, visibility: 'public' });
  await send('PATCH', `/objects/${id}`, { expectedRevision: 1, changes: { long0: body } });
  await stored(
    app,
    `WITH copies AS (SELECT gen_random_uuid() AS id FROM generate_series(1, ${COPIES})),
      made AS (INSERT INTO objects SELECT (jsonb_populate_record(o, jsonb_build_object('id', c.id))).* FROM objects o, copies c
        WHERE o.id = $1 RETURNING 1)
      INSERT INTO search_records SELECT (jsonb_populate_record(s, jsonb_build_object('id', c.id))).*
        FROM search_records s, copies c WHERE s.id = $1`,
    [id],
  );
  await stored(
    app,
    `INSERT INTO comments SELECT (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid()))).*
      FROM comments c, generate_series(1, ${COMMENTS}) WHERE c.object_id = $1`,
    [id],
  );
  return { app, record: id, send };
}

async function records(seen: Seeded, count: number): Promise<string[]> {
  const ids = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      seen.send('POST', '/objects', { typeDefinitionId: 'thing', values: { title: `Record ${index}` } }),
    ),
  );
  return ids.map(({ id }) => id);
}

const unknownKeys = (): object => Object.fromEntries(Array.from({ length: 66_000 }, (_, index) => [`k${index}`, 0]));

/** Conditions nested as deep and as wide as a filter may be. */
function wideFilter(): object {
  const leaf = { field: 'title', operator: 'contains', value: 'a'.repeat(50) };
  return { logic: 'AND', conditions: Array.from({ length: 100 }, () => leaf) };
}

/** A dashboard with as many tiles as it may have, each with many conditions and values. */
function wideDashboard(): object {
  const values = Array.from({ length: 200 }, (_, index) => `number ${index}`);
  const conditions = Array.from({ length: 20 }, () => ({ field: 'number', operator: 'in', value: values }));
  const query = { types: ['thing'], measures: ['count'], filter: { logic: 'OR', conditions } };
  return {
    name: 'Wide',
    tiles: Array.from({ length: 24 }, () => ({ kind: 'number', title: 'Wide', width: 1, query })),
  };
}

/** Enough for several units of work; the maximum is 100, and each takes as long. */
const ITEMS = 12;

async function bulk(seen: Seeded, length: number, kind: string): Promise<Large> {
  const ids = await records(seen, ITEMS);
  const items = ids.map((objectId) => ({
    objectId,
    expectedRevision: 1,
    changes: { long0: textOf(kind, length) },
  }));
  return { name: `${ITEMS} items of ${length} characters, ${kind}`, body: { operation: 'update', items }, status: 200 };
}

const article = (body: string) => ({
  baseId: 'kb',
  sectionId: 'first',
  code: `a-${randomUUID()}`,
  title: 'T',
  locale: 'ru-RU',
  visibility: 'internal',
  body,
});

async function definition(seen: Seeded, format: 'CSV' | 'JSON'): Promise<string> {
  const { id } = await seen.send('POST', '/import-definitions', {
    code: `large-${randomUUID()}`,
    targetKind: 'object',
    targetTypeId: 'thing',
    format,
    mode: 'UPSERT',
    sourceCode: 'there',
    resolver: { externalIdField: 'ext' },
    mapping: [{ source: 'title', target: 'title' }],
  });
  return id;
}

/** Operations whose input and response are limited to a few kilobytes. */
const SMALL = `
  metadata.types metadata.fields objects.image objects.restore comments.edit comments.archive attachments.content
  attachments.archive relations.definitions relations.add relations.archive workflow.transition sla.history
  sla.command sla.explanation sla.try sla.preview imports.define imports.definitions imports.get imports.list
  imports.undo services.list services.get catalog.get catalog.request kb.list kb.get kb.image kb.edit kb.archive
  kb.bases kb.versions kb.contents kb.browse kb.view kb.vote kb.review kb.version kb.audiences kb.set-audiences
  kb.restore kb.material webhooks.list webhooks.create webhooks.change webhooks.enable webhooks.disable
  webhooks.archive webhooks.restore webhooks.deliveries webhooks.delivery webhooks.retry webhooks.test secrets.list secrets.create
  secrets.rotate identity.users identity.createUser identity.changeUser identity.archiveUser identity.restoreUser
  identity.groups identity.createGroup identity.changeGroup identity.archiveGroup identity.restoreGroup
  identity.orgUnits identity.createOrgUnit identity.changeOrgUnit identity.archiveOrgUnit identity.restoreOrgUnit
  identity.addGroupMember identity.groupMembers identity.removeGroupMember identity.setOrgMember identity.orgMembers
  identity.removeOrgMember identity.archived integrations.list integrations.create integrations.change
  integrations.enable integrations.disable integrations.archive integrations.restore integrations.runs
  integrations.try inbound.run keys.list keys.create keys.revoke keys.rotate session.create session.ways session.get
  access.explanation identity.setPassword me.get me.change me.sessions me.endSession me.endOtherSessions audit.list
  session.delete desk.types desk.lookup desk.labels health.backlog desk.queues.list desk.queues.built-in
  notifications.watch.set notifications.watch.end notifications.list notifications.count
  notifications.stream notifications.explain notifications.choices.get notifications.choices.set notifications.quietHours.get
  notifications.quietHours.set
  desk.queues.stream desk.queues.create desk.queues.change desk.queues.delete desk.merge reports.query reports.calendars
  dashboards.change dashboards.delete mail.messages mail.retry mail.sent mail.send-again config.list config.versions config.diff config.schema rules.runs rules.try
  rules.preview rules.graph
`;

/** Every operation by its id; the test fails for one that is missing. Reads of one record are derived: they read a large record. */
export const LARGE: Readonly<Record<string, LargeRow>> = {
  ...Object.fromEntries(
    operationsOf(MODULES)
      .filter(isRecordRead)
      .map(({ id, status }): [string, LargeRow] => [
        id,
        (seen) => [{ name: 'of a large record', params: { objectId: seen.record }, status }],
      ]),
  ),
  ...Object.fromEntries(
    SMALL.trim()
      .split(/\s+/)
      .map((id) => [id, MINIMAL] as const),
  ),
  'me.changePassword': () => [
    {
      name: 'a wrong password',
      body: { oldPassword: 'x'.repeat(200), newPassword: 'y'.repeat(200) },
      status: 400,
      code: 'INVALID_REQUEST',
    },
  ],
  'objects.diff': ({ record }) => [{ name: 'large', params: { objectId: record }, query: '?from=1&to=1', status: 200 }],
  // Several runs of one change within the time limit of a dry run, on a busy machine too: of a record without other long texts.
  'access.explainRequest': async (seen) => {
    const [id = ''] = await records(seen, 1);
    return [explained(id, longValues('compounds', 2), 1)];
  },
  'feed.read': () => [{ name: 'a page with long records', query: '?limit=100&include=object', status: 200 }],
  'mail.receive': () =>
    ['text/plain', 'text/html'].map((type) => ({
      name: `a message of ${type}`,
      params: { code: 'box' },
      body: {
        raw: Buffer.from(`Content-Type: ${type}\r\n\r\n${repeat('<p>a b</p>\r\n', 7_800_000)}`).toString('base64'),
      },
      status: 201,
    })),
  'objects.list': () => [{ name: 'a page of long records', query: '?pageSize=100', status: 200 }],
  'desk.objects': () => [
    { name: 'a page of long records', query: '?pageSize=100&typeId=thing&sort=-title', status: 200 },
  ],
  'desk.fields': () => [
    {
      name: 'a condition',
      query: `?filter=${encodeURIComponent('{"field":"createdAt","operator":"is-empty","value":false}')}`,
      status: 200,
    },
  ],
  'desk.suggestions': () => [{ name: 'words of long records', query: '?q=banana+harvest', status: 200 }],
  'desk.export': () => [{ name: 'all columns of long records', body: fileOf(LONG_COLUMNS, 'XLSX'), status: 200 }],
  'dashboards.create': () => [{ name: 'tiles with wide filters', body: wideDashboard(), status: 201 }],
  'dashboards.list': () => [{ name: 'dashboards with wide filters', status: 200 }],
  'desk.applyMacro': async (seen) => {
    const macroId = await idOf(seen.app, 'config_items', 'prepared');
    const ids = await records(seen, KINDS.length);
    return KINDS.map((kind, index) => ({
      name: kind,
      params: { objectId: ids[index] ?? '' },
      body: { macroId, expectedRevision: 1, comment: { body: textOf(kind, 20_000), visibility: 'public' } },
      status: 200,
    }));
  },
  'objects.create': () => [
    ...KINDS.map((kind) => ({
      name: `2 texts of ${kind}`,
      body: { typeDefinitionId: 'thing', values: { title: 'x', ...longValues(kind, 2) } },
      status: 201,
    })),
    ...Object.entries(richTexts()).map(([kind, picture]) => ({
      name: kind,
      body: { typeDefinitionId: 'thing', values: { title: 'x', picture } },
      status: 201,
    })),
    {
      name: 'unknown fields',
      body: { typeDefinitionId: 'thing', values: unknownKeys() },
      status: 400,
      code: 'INVALID_REQUEST',
    },
    {
      name: 'escapes',
      body: `{"typeDefinitionId":"${repeat('\\u0436', BODY - (BODY % 6))}","values":{}}`,
      status: 400,
      code: 'INVALID_REQUEST',
    },
    { name: 'nested lists', body: '['.repeat(BODY), status: 400, code: 'INVALID_JSON' },
    { name: 'an unclosed text', body: `{"a":"${'x'.repeat(BODY)}`, status: 400, code: 'INVALID_JSON' },
    {
      name: 'a duplicate key',
      body: `{"values":{${Array.from({ length: 66_000 }, (_, index) => `"k${index}":0`).join()},"k1":0}}`,
      status: 400,
      code: 'INVALID_JSON',
    },
    {
      name: 'as many exponents as are read',
      body: `[${repeat('1.5e30,', 1_393_000)}1]`,
      status: 400,
      code: 'INVALID_REQUEST',
    },
    {
      name: 'deep JSON',
      body: { typeDefinitionId: 'thing', values: { title: 'x', data: Array.from({ length: 20_000 }, () => ({})) } },
      status: 201,
    },
  ],
  'objects.update': async (seen) => {
    const [id = ''] = await records(seen, 1);
    const changes = longValues('Chinese signs', 2);
    return [
      { name: 'all texts', params: { objectId: id }, body: { expectedRevision: 1, changes }, status: 200 },
      { name: 'the same again', params: { objectId: id }, body: { expectedRevision: 2, changes }, status: 200 },
    ];
  },
  'objects.archive': async (seen) => {
    const id = (await seen.send('POST', '/objects', {
      typeDefinitionId: 'thing',
      values: { title: 'x', ...longValues('different words') },
    })) as { id: string };
    return [{ name: 'a long record', params: { objectId: id.id }, body: { expectedRevision: 1 }, status: 200 }];
  },
  'notifications.read': () => {
    const ids = Array.from({ length: 1000 }, () => randomUUID());
    return [{ name: 'many ids', body: { ids }, status: 200 }];
  },
  'comments.add': (seen) =>
    KINDS.map((kind) => ({
      name: kind,
      params: { objectId: seen.record },
      body: { body: textOf(kind, 20_000), visibility: 'public' },
      status: 201,
    })),
  'attachments.add': (seen) => [
    {
      name: 'a file as large as a body',
      params: { objectId: seen.record },
      body: { filename: 'a.bin', contentBase64: 'AAAA'.repeat(2_446_000) },
      status: 201,
    },
  ],
  'search.search': () => [
    { name: 'long records', query: '?q=banana+harvest&pageSize=100', status: 200 },
    { name: 'a typing error in long records', query: '?q=bananna+harvset&pageSize=100', status: 200 },
    {
      name: 'as many words as are read',
      query: `?q=${encodeURIComponent(Array.from({ length: 800 }, (_, index) => `w${index}`).join(' '))}`,
      status: 200,
    },
    {
      name: 'a wide filter',
      query: `?filter=${encodeURIComponent(JSON.stringify(wideFilter()))}`,
      status: 400,
      code: 'INVALID_FILTER',
    },
  ],
  'bulk.run': async (seen) => [await bulk(seen, 90_000, 'different words'), await bulk(seen, 30_000, 'Chinese signs')],
  'imports.run': async (seen) => [
    {
      name: 'CSV of many rows',
      body: {
        definitionId: await definition(seen, 'CSV'),
        content: `ext,title\n${Array.from({ length: 1000 }, (_, index) => `${index},Row ${index}\n`).join('')}`,
        dryRun: false,
      },
      status: 201,
    },
    {
      name: 'JSON of broken rows',
      body: { definitionId: await definition(seen, 'JSON'), content: `[${'{"a":'.repeat(1_000_000)}`, dryRun: false },
      status: 400,
      code: 'INVALID_REQUEST',
    },
    {
      name: 'CSV with an open quote',
      body: {
        definitionId: await definition(seen, 'CSV'),
        content: `ext,title\n"${'x'.repeat(9_000_000)}`,
        dryRun: false,
      },
      status: 400,
      code: 'INVALID_REQUEST',
    },
  ],
  'imports.preview': async (seen) => [
    {
      name: 'CSV of many rows',
      body: {
        definitionId: await definition(seen, 'CSV'),
        content: `ext,title\n${Array.from({ length: 60_000 }, (_, index) => `${index},Row ${index}\n`).join('')}`,
        limit: 100,
      },
      status: 200,
    },
  ],
  'exports.create': () => [
    {
      name: 'long records as CSV',
      body: { typeDefinitionId: 'thing', format: 'CSV', query: { q: 'banana' } },
      status: 200,
    },
    { name: 'long records as JSON', body: { typeDefinitionId: 'thing', format: 'JSON' }, status: 200 },
  ],
  'kb.create': () => [
    { name: 'ordinary text', body: article(textOf('different words', 200_000)), status: 201 },
    { name: 'open addresses', body: article(repeat('<http://', 200_000)), status: 400, code: 'INVALID_VALUES' },
  ],
  'kb.draft': () => {
    const { code: _code, visibility: _visibility, ...body } = article(textOf('different words', 200_000));
    const audiences = Array.from({ length: 1000 }, () => ({ kind: 'everyone' }));
    return [
      { name: 'a long text and audience', body: { ...body, title: '\u0451'.repeat(300), audiences }, status: 201 },
    ];
  },
  'kb.publish': async (seen) => {
    const { versionId } = await seen.send('POST', '/kb/articles', article(textOf('Chinese signs', 200_000)));
    await stored(
      seen.app,
      `UPDATE kb_versions SET audience_ids = ARRAY['00000000-0000-0000-0000-000000000000'::uuid],
        audiences = '[{"kind":"everyone"}]' WHERE id = $1`,
      [versionId],
    );
    return [{ name: 'a long text', body: { versionId }, status: 200 }];
  },
  ...LARGE_CONFIGURATIONS,
};

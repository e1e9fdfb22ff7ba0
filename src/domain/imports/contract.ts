/** The API contract of imports (docs/spec/import-export-bulk.md, docs/spec/configuration.md#administration-api). */
import Type, { type TSchema } from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { pagingQuery } from '../../contract/paging.ts';
import {
  closed,
  Code,
  described,
  FieldCode,
  Id,
  IdOrCode,
  Instant,
  Name,
  nullable,
  oneOf,
  optional,
} from '../../contract/schemas.ts';

const Column = Type.String({ minLength: 1, maxLength: 255 });
const Transform = Type.String({ minLength: 1, maxLength: 10_000 });

/** One transform or several. */
export const Transforms = Type.Union([Transform, Type.Array(Transform, { maxItems: 20 })]);

/** How columns become values. The bundle annotates the codes in it. */
export function mappingOf<Target extends TSchema, Steps extends TSchema>(target: Target, steps: Steps) {
  return described(
    'Which source fills which field, with one entry for each source.',
    Type.Array(
      closed({
        source: described('Name of a column of the CSV file, or of a property of each JSON object.', Column),
        target: described('Code of the field that gets the value; for users, groups and units a property.', target),
        transform: optional(
          'Conversions of the value, in order: trim, lower, upper, integer, decimal, boolean, date:FORMAT, datetime:FORMAT, split:SEP, map:{…}, default:VALUE, lookup:TYPE.FIELD, user:login, group:code, org-unit:code.',
          steps,
        ),
        precedence: optional(
          'Decides between several sources of one field: the lowest whose source is not empty is used. Default: 100.',
          Type.Integer({ minimum: 0, maximum: 1_000_000 }),
        ),
      }),
      { minItems: 1, maxItems: 1000 },
    ),
  );
}

/** The properties of a definition that the API and the bundle share. */
export const DEFINITION_PROPERTIES = {
  code: Code,
  name: Type.Optional(Name),
  targetKind: described(
    'What each row becomes: object is a record, organization an organisation unit.',
    oneOf(['object', 'user', 'group', 'organization']),
  ),
  format: described(
    'CSV in UTF-8, separated by comma, semicolon or tab, or JSON as an array of objects.',
    oneOf(['CSV', 'JSON']),
  ),
  mode: described(
    'CREATE_ONLY skips rows that exist already, UPDATE_ONLY those that do not; UPSERT creates and updates.',
    oneOf(['CREATE_ONLY', 'UPDATE_ONLY', 'UPSERT']),
  ),
  sourceCode: described(
    'Code of the system that the data comes from. Definitions with the same code share its external ids.',
    Code,
  ),
  resolver: described(
    'How a row finds what it updates.',
    closed({ externalIdField: described('Name of the column or property with the id in the source system.', Column) }),
  ),
  mapping: mappingOf(FieldCode, Transforms),
  rules: Type.Optional(
    Type.Boolean({ description: 'Whether rules react to what an import writes; by default they do not.' }),
  ),
  notifications: Type.Optional(
    Type.Boolean({ description: 'Whether users are notified of what an import writes; by default they are not.' }),
  ),
};

const Definition = Type.Object(
  {
    id: Id,
    code: Type.String(),
    name: Type.Unknown({ description: 'A text, or an object with a text for each locale.' }),
    targetKind: Type.String(),
    targetTypeId: nullable(Id),
    format: Type.String(),
    mode: Type.String(),
    sourceCode: Type.String(),
    resolver: Type.Object({ externalIdField: Type.String() }),
    mapping: Type.Array(
      Type.Object({
        source: Type.String(),
        target: Type.String(),
        transform: Type.Array(Type.String()),
        precedence: Type.Integer(),
      }),
    ),
    rules: Type.Optional(Type.Literal(true, { description: 'Rules react to what an import writes.' })),
    notifications: Type.Optional(Type.Literal(true, { description: 'Users are notified of what an import writes.' })),
    state: Type.String(),
  },
  { $id: 'ImportDefinition' },
);

const RowError = Type.Object({ path: Type.String(), code: Type.String(), message: Type.String() });

/** For the console, which shows problems in its own language. */
const ExplainedRowError = Type.Object({
  ...RowError.properties,
  reason: Type.Optional(Type.String()),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

const RowResult = Type.Object(
  {
    row: Type.Integer({ minimum: 1 }),
    externalId: nullable(
      Type.String({ description: 'Null if the row has no record, or if the caller may not read it.' }),
    ),
    status: oneOf(['CREATED', 'UPDATED', 'SKIPPED', 'FAILED']),
    id: Type.Optional(Id),
    errors: Type.Array(RowError),
  },
  { $id: 'ImportRow' },
);

const count = Type.Integer({ minimum: 0 });

const run = {
  id: Id,
  definitionId: Id,
  dryRun: Type.Boolean(),
  state: oneOf(['RUNNING', 'FINISHED']),
  succeeded: count,
  failed: count,
  skipped: count,
  total: Type.Integer({ minimum: 0, description: 'Number of rows in the content.' }),
  fileName: Type.Optional(Type.String()),
  startedAt: Instant,
  startedBy: nullable(Type.Object({ id: Id, displayName: Type.String() })),
  finishedAt: Type.Optional(Instant),
  undoneAt: Type.Optional(Instant),
};

const RunSummary = Type.Object(run, { $id: 'ImportRunSummary' });

const Run = Type.Object(
  {
    ...run,
    undo: Type.Optional(
      Type.Object(
        { undone: count, skipped: count, failed: count },
        { description: 'Progress of the undo in rows. Absent if no undo was requested.' },
      ),
    ),
    rows: Type.Array(RowResult),
    rowsTruncated: Type.Boolean({
      description: 'True if there are more than 10,000 rows. `rows` then lists failed rows first.',
    }),
  },
  { $id: 'ImportRun' },
);

const tag = 'Import';
const timeoutMs = 300_000;

export const createDefinition = defineOperation({
  id: 'imports.define',
  method: 'POST',
  path: '/import-definitions',
  access: 'imports:write',
  right: 'import.manage',
  unit: 'write',
  status: 201,
  tag,
  summary: 'Create an import definition',
  description:
    'An import definition says how rows of a source become records, users, groups or organisation units. `resolver.externalIdField` names the column that holds the external id. The definition is stored; run it with `POST /imports/run`.',
  body: closed({ ...DEFINITION_PROPERTIES, targetTypeId: Type.Optional(IdOrCode) }),
  answer: Definition,
  faults: ['RIGHT_MISSING', 'ALREADY_EXISTS'],
});

export const listDefinitions = defineOperation({
  id: 'imports.definitions',
  method: 'GET',
  path: '/import-definitions',
  growth: 'few',
  access: 'console',
  right: 'import.manage',
  unit: 'read',
  status: 200,
  tag,
  summary: 'List import definitions',
  description: 'Includes archived definitions; see `state`.',
  answer: Type.Array(Definition),
  faults: ['RIGHT_MISSING'],
});

const DefinitionKey = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'Id or code of an import definition. If a value is both the id of one definition and the code of another, it is used as the id.',
});
const content = Type.String({
  description: 'CSV, or a JSON array of objects, depending on the format of the definition.',
});

export const runImport = defineOperation({
  id: 'imports.run',
  method: 'POST',
  path: '/imports/run',
  access: 'imports:write',
  right: 'import.execute',
  unit: 'own',
  dryRun: false,
  status: 201,
  tag,
  summary: 'Import rows',
  description:
    'Each row is stored independently, with the rights of the caller on every record and field. A dry run performs all steps and rolls the changes back. Malformed content is rejected as a whole. Time limit 300 s; for large files use `docket import`. Results contain ids of records only if the caller may read them. A row that matches any other record fails with `NOT_FOUND`, without details.',
  body: closed({ definitionId: DefinitionKey, content, dryRun: Type.Boolean() }),
  answer: Run,
  timeoutMs,
  faults: ['RIGHT_MISSING', 'NOT_FOUND'],
});

export const getRun = defineOperation({
  id: 'imports.get',
  method: 'GET',
  path: '/import-runs/{runId}',
  growth: 'held',
  access: 'imports:read',
  right: 'import.manage',
  unit: 'snapshot',
  status: 200,
  tag,
  summary: 'Read an import run with the results of its rows',
  description: '`rows` has the result of each row, at most 10,000; failed rows come first if there are more.',
  params: closed({ runId: Id }),
  answer: Run,
  faults: ['RIGHT_MISSING', 'NOT_FOUND'],
});

export const listRuns = defineOperation({
  id: 'imports.list',
  method: 'GET',
  path: '/import-runs',
  access: 'console',
  right: 'import.manage',
  unit: 'read',
  status: 200,
  tag,
  summary: 'List import runs, newest first',
  description: 'The list does not contain the results of rows; read a single run to get them.',
  query: closed(pagingQuery),
  answer: Type.Object({
    rows: Type.Array(RunSummary),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
  }),
  faults: ['RIGHT_MISSING'],
});

const Preview = Type.Object(
  {
    rows: Type.Array(
      Type.Object({
        row: Type.Integer({ minimum: 1 }),
        externalId: nullable(Type.String()),
        status: oneOf(['CREATED', 'UPDATED', 'SKIPPED', 'FAILED']),
        id: Type.Optional(Id),
        before: nullable(Type.Record(Type.String(), Type.Unknown())),
        after: nullable(Type.Record(Type.String(), Type.Unknown())),
        errors: Type.Array(ExplainedRowError),
      }),
    ),
    total: Type.Integer({
      minimum: 0,
      description: 'Number of rows in the content. Only the first rows are in `rows`.',
    }),
  },
  { $id: 'ImportPreview' },
);

export const preview = defineOperation({
  id: 'imports.preview',
  method: 'POST',
  path: '/imports/preview',
  access: 'console',
  right: 'import.execute',
  unit: 'own',
  dryRun: false,
  status: 200,
  tag,
  summary: 'Preview what each row would change',
  description:
    'For the first rows: the mapped fields before and after, limited to fields that the caller may read. Nothing is stored.',
  body: closed({
    definitionId: DefinitionKey,
    content,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  }),
  answer: Preview,
  timeoutMs,
  faults: ['RIGHT_MISSING', 'NOT_FOUND'],
});

export const undo = defineOperation({
  id: 'imports.undo',
  method: 'POST',
  path: '/import-runs/{runId}/undo',
  access: 'console',
  right: 'import.manage',
  unit: 'own',
  status: 200,
  tag,
  summary: 'Undo an import run',
  description:
    'Rows are undone in reverse order: created records are archived, changed records get their previous values back. Rows whose record was changed since are skipped. The call can be repeated.',
  params: closed({ runId: Id }),
  answer: Type.Object(
    {
      id: Id,
      undone: count,
      skipped: count,
      failed: count,
      rows: Type.Array(
        Type.Object({
          row: Type.Integer({ minimum: 1 }),
          id: Type.Optional(Id),
          status: oneOf(['UNDONE', 'SKIPPED', 'FAILED']),
          errors: Type.Array(ExplainedRowError),
        }),
      ),
      rowsTruncated: Type.Boolean(),
    },
    { $id: 'ImportUndo' },
  ),
  timeoutMs,
  faults: ['RIGHT_MISSING', 'NOT_FOUND', 'STATE_CONFLICT'],
});

/** Integrity checks of records. The last columns of a record are compared with a replay of its history. */
import sql, { type Sql } from 'sql-template-tag';
import {
  type Check,
  contentCheck,
  keptAnswersOf,
  revisionsMade,
  rowCheck,
  namesOf,
  NIL,
  note,
  replayCheck,
  type Violations,
} from '../../platform/audit/checks.ts';
import { deepEqualJson } from '../../lib/json.ts';
import { fold } from '../../lib/text.ts';
import { saysStored, storedMember } from '../../platform/journal/journal.ts';
import { CONSEQUENT } from '../../platform/unit-of-work/context.ts';
import {
  fieldLists,
  idsIn,
  registry,
  type StoredCodes,
  storedCodes,
  type StoredValues,
  titleText,
  type TypeVersion,
} from '../metadata/index.ts';
import { idsByKind, isFound } from './references.ts';
import { derive, type Values } from './rules.ts';
import { findNamed } from './store-lookups.ts';

/** Predicate: there is no record with that id. For modules whose rows belong to a record. */
export function recordMissing(id: Sql): Sql {
  return sql`NOT EXISTS (SELECT 1 FROM objects known WHERE known.id = ${id})`;
}

/** Stored responses of the operation whose record does not exist. */
function effects(operationId: string): Sql {
  return sql`
    SELECT 'key ' || k.key AS what FROM (${keptAnswersOf(operationId)}) k WHERE k.id IS NULL OR ${recordMissing(sql`k.id`)}`;
}

const ROWS_AT_ONCE = 200;

const differs = namesOf({
  history: sql`h.object_id IS NULL`,
  type_id: sql`h.type_known AND b.type_id IS DISTINCT FROM h.type_id`,
  type_version: sql`b.type_version < h.type_version`,
  state: sql`b.state IS DISTINCT FROM h.state`,
  workflow_state_id: sql`h.workflow_known AND b.workflow_state_id IS DISTINCT FROM h.workflow_state_id`,
  revision: sql`b.revision IS DISTINCT FROM h.revision`,
  created_at: sql`b.created_at IS DISTINCT FROM h.created_at`,
  created_by: sql`b.created_by IS DISTINCT FROM h.created_by`,
  updated_at: sql`b.updated_at IS DISTINCT FROM h.updated_at`,
  updated_by: sql`b.updated_by IS DISTINCT FROM h.updated_by`,
  archived_at: sql`b.archived_at IS DISTINCT FROM h.archived_at`,
});

/** The last change of each field gives its current value. Archiving and transitions put other keys among the changes. */
const replayed = (after: string, limit: number) => sql`
  WITH b AS MATERIALIZED (
    SELECT * FROM objects o WHERE o.id > ${after}::uuid ORDER BY o.id LIMIT ${limit}::int
  ), e AS MATERIALIZED (
    SELECT j.object_id, j.type, j.at, j.actor_id, j.revision, j.seq, j.changes, j.data,
      j.type IN ('ObjectArchived', 'ObjectRestored') AS turned
    FROM journal j WHERE j.object_id = ANY (SELECT b.id FROM b) AND j.revision IS NOT NULL
  ), v AS (
    SELECT last.object_id, jsonb_object_agg(last.key, last.value) FILTER (WHERE last.value <> 'null') AS "values"
    FROM (
      SELECT DISTINCT ON (e.object_id, c.key) e.object_id, c.key, c.value -> 1 AS value
      FROM e CROSS JOIN LATERAL jsonb_each(e.changes) c
      WHERE jsonb_typeof(e.changes) = 'object' AND c.key <> 'workflowState' AND NOT e.turned
      ORDER BY e.object_id, c.key, e.seq DESC) last
    GROUP BY last.object_id
  ), h AS (
    SELECT e.object_id, max(e.revision) AS revision,
      (array_agg(e.at ORDER BY e.seq))[1] AS created_at, (array_agg(e.actor_id ORDER BY e.seq))[1] AS created_by,
      max(e.at) AS updated_at,
      (array_agg(e.actor_id ORDER BY e.seq DESC))[1] AS updated_by,
      CASE WHEN (array_agg(e.type ORDER BY e.seq DESC) FILTER (WHERE e.turned))[1] = 'ObjectArchived'
        THEN 'ARCHIVED' ELSE 'ACTIVE' END AS state,
      CASE WHEN (array_agg(e.type ORDER BY e.seq DESC) FILTER (WHERE e.turned))[1] = 'ObjectArchived'
        THEN (array_agg(e.at ORDER BY e.seq DESC) FILTER (WHERE e.turned))[1] END AS archived_at,
      bool_or(${saysStored('e', 'type')}) AS type_known, max(${storedMember('e', 'type')})::uuid AS type_id,
      (array_agg(${storedMember('e', 'version')} ORDER BY e.seq DESC)
        FILTER (WHERE ${saysStored('e', 'version')}))[1]::int AS type_version,
      -- A transition from before history kept ids says nothing of them, and what was said before it holds no longer.
      (array_agg(${saysStored('e', 'workflowState')} ORDER BY e.seq DESC)
        FILTER (WHERE ${saysStored('e', 'workflowState')} OR e.changes ? 'workflowState'))[1] AS workflow_known,
      (array_agg(${storedMember('e', 'workflowState')} ORDER BY e.seq DESC)
        FILTER (WHERE ${saysStored('e', 'workflowState')}))[1]::uuid AS workflow_state_id
    FROM e GROUP BY e.object_id
  )
  SELECT b.id, ${differs} || CASE WHEN b."values" = coalesce(v."values", '{}') THEN '{}' ELSE coalesce((
      SELECT array_agg('values.' || k.key ORDER BY k.key)
      FROM (SELECT jsonb_object_keys(b."values" || coalesce(v."values", '{}')) AS key) k
      WHERE (b."values" -> k.key) IS DISTINCT FROM (v."values" -> k.key)), '{}') END AS differs
  FROM b LEFT JOIN h ON h.object_id = b.id LEFT JOIN v ON v.object_id = b.id ORDER BY b.id`;

interface Derived {
  id: string;
  typeId: string;
  typeVersion: number;
  title: string | null;
  values: StoredValues;
  folded: StoredValues;
}

/**
 * Checks the data that is computed from values and read by lists and conditions. The title may match any field, or be null:
 * when the type's title field changes, stored records keep their title until their next change.
 */
const derivedCheck: Check = {
  name: 'I13 title and folded texts of a record follow from its values',
  find: async ({ db, config }) => {
    const found: Violations = { total: 0, named: [] };
    const types = registry({ config });
    for (let after = NIL; ; ) {
      const rows = await db.query<Derived>(sql`
        SELECT o.id, o.type_id AS "typeId", o.type_version AS "typeVersion", o.title, o."values", o.folded FROM objects o
        WHERE o.id > ${after}::uuid ORDER BY o.id LIMIT ${ROWS_AT_ONCE}::int`);
      for (const row of rows) {
        const version = types.byId.get(row.typeId)?.versions.get(row.typeVersion);
        const codes = storedCodes(types, row.typeId);
        const wrong = version === undefined ? ['type_version'] : wrongIn(version, row, codes);
        if (wrong.length > 0) note(found, `record ${row.id} (${wrong.join(', ')})`);
      }
      after = rows.at(-1)?.id ?? after;
      if (rows.length < ROWS_AT_ONCE) return found;
    }
  },
};

function wrongIn(version: TypeVersion, { title, folded, ...row }: Derived, codes: StoredCodes): string[] {
  const values: Values = codes.decode(row.values);
  const expected: Record<string, unknown> = { ...codes.encode(derive(version, values).folded) };
  delete expected['$title'];
  if (title !== null) expected['$title'] = fold(title);
  const titles =
    title === null ? [] : [...version.fields.keys()].map((titleField) => titleText({ ...version, titleField }, values));
  return [
    ...(title === null || titles.includes(title) ? [] : ['title']),
    ...(deepEqualJson(expected, folded) ? [] : ['folded']),
  ];
}

/**
 * Ids in values whose item does not exist, or exists only as another kind. Archived items count, and so do records of a type
 * that the field no longer allows: they were valid when they were written.
 */
const referenceCheck: Check = {
  name: 'I15 each id in the values of a record names an item of the kind of its field',
  find: async ({ db, config }) => {
    const found: Violations = { total: 0, named: [] };
    const types = registry({ config });
    const services = new Set(config.items('services').map(({ id }) => id));
    for (let after = NIL; ; ) {
      const rows = await db.query<Pick<Derived, 'id' | 'typeId' | 'typeVersion' | 'values'>>(sql`
        SELECT o.id, o.type_id AS "typeId", o.type_version AS "typeVersion", o."values" FROM objects o
        WHERE o.id > ${after}::uuid ORDER BY o.id LIMIT ${ROWS_AT_ONCE}::int`);
      const records = rows.map(({ id, typeId, typeVersion, values }) => {
        const version = types.byId.get(typeId)?.versions.get(typeVersion);
        const fields = version === undefined ? [] : fieldLists(version).ids;
        return { id, named: idsIn(fields, storedCodes(types, typeId).decode(values)) };
      });
      const ids = idsByKind(records.flatMap(({ named }) => named));
      const known = await findNamed(db, ids, sql`true`, true);
      for (const { id, named } of records) {
        const wrong = named.filter((entry) => !isFound(entry, known, services)).map(({ code }) => `values.${code}`);
        if (wrong.length > 0) note(found, `record ${id} (${wrong.join(', ')})`);
      }
      after = rows.at(-1)?.id ?? after;
      if (rows.length < ROWS_AT_ONCE) return found;
    }
  },
};

export const objectReplays: readonly Check[] = [
  replayCheck('I13 records are what their history says', 'record', replayed),
  derivedCheck,
];

export const objectChecks: readonly Check[] = [
  ...objectReplays,
  referenceCheck,
  rowCheck(
    'I2 a record has the revisions that events made, from 1 without a gap',
    sql`SELECT 'record ' || o.id AS what FROM objects o LEFT JOIN (
        SELECT made.object_id, count(DISTINCT made.revision) AS revisions, min(made.revision) AS first,
          max(made.revision) AS last
        FROM (${revisionsMade()}) made GROUP BY made.object_id) m ON m.object_id = o.id
      WHERE (m.revisions, m.first, m.last) IS DISTINCT FROM (o.revision::bigint, 1, o.revision)`,
  ),
  rowCheck(
    'I3 one change for each revision of a record, with those that rules added to it',
    sql`SELECT 'revision ' || made.revision || ' of record ' || made.object_id AS what FROM (${revisionsMade()}) made
      GROUP BY made.object_id, made.revision
      HAVING count(*) FILTER (WHERE made.via <> ALL(${[...CONSEQUENT]}::text[])) > 1 OR count(DISTINCT made.unit) > 1`,
  ),
  rowCheck(
    'I4 no event of a record or revision that is not there',
    sql`SELECT 'event ' || made.id AS what FROM (${revisionsMade()}) made LEFT JOIN objects o ON o.id = made.object_id
      WHERE o.id IS NULL OR made.revision > o.revision`,
  ),
  rowCheck(
    'I5 a kept answer has its record',
    sql`
    ${effects('objects.create')} UNION ALL ${effects('catalog.request')}
    UNION ALL SELECT 'record ' || k.id AS what FROM (${keptAnswersOf('objects.create')}) k GROUP BY k.id HAVING count(*) > 1
    UNION ALL SELECT 'record ' || k.id AS what FROM (${keptAnswersOf('catalog.request')}) k GROUP BY k.id HAVING count(*) > 1`,
  ),
  contentCheck(
    'I8 images in rich text are there, byte by byte',
    (after, limit) => sql`
      SELECT i.sha256, min(i.size) AS least, max(i.size) AS most, 'an image of record ' || min(i.object_id::text) AS what
      FROM inline_images i WHERE i.sha256 > ${after} GROUP BY i.sha256 ORDER BY i.sha256 LIMIT ${limit}::int`,
  ),
];

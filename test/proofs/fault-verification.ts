/** Compares the responses of clients (`fault-workload.ts`) with the stored data. */
import type { ExpectedRecord, WorkloadJournal } from './fault-journal.ts';

type Rows = <Row>(statement: string, values?: readonly unknown[]) => Promise<Row[]>;

interface StoredRecord {
  id: string;
  tag: string;
  revision: number;
  title: string;
  note: string | null;
  archived: boolean;
  taken: boolean;
}

/** @returns one line per problem; `prefix` begins every tag of this load */
export async function verifyAcknowledged(rows: Rows, journal: WorkloadJournal, prefix: string): Promise<string[]> {
  const problems = journal.surprises.splice(0);
  const stored = await rows<StoredRecord>(
    `SELECT o.id::text, o."values" ->> 'tag' AS tag, o.revision, o.title, o."values" ->> 'note' AS note, o.state = 'ARCHIVED' AS archived,
      o.workflow_state_id IN (SELECT id FROM config_ids WHERE code = 'work') AS taken
    FROM objects o WHERE starts_with(o."values" ->> 'tag', $1)`,
    [prefix],
  );
  const byTag = new Map<string, StoredRecord[]>();
  for (const record of stored) byTag.set(record.tag, [...(byTag.get(record.tag) ?? []), record]);
  const expected = new Set([...journal.records.map(({ tag }) => tag), ...journal.imported.keys()]);
  for (const [tag, found] of byTag) {
    if (found.length > 1) problems.push(`${tag} exists ${found.length} times`);
    if (!expected.has(tag)) problems.push(`${tag} exists, but was never acknowledged`);
  }
  for (const known of journal.records) {
    const found = byTag.get(known.tag)?.find(({ id }) => id === known.id);
    if (found === undefined) problems.push(`${known.tag} was acknowledged as ${known.id} and is lost`);
    else if (!fits(found, known) && !(known.perhaps !== undefined && fits(found, known.perhaps)))
      problems.push(`${known.tag} is ${JSON.stringify(found)}, expected ${JSON.stringify(known)}`);
  }
  for (const [tag, note] of journal.imported) {
    const found = byTag.get(tag)?.[0];
    if (found?.note !== note) problems.push(`the row ${tag} is ${JSON.stringify(found)}, expected ${note}`);
  }
  problems.push(...(await judgeAround(rows, journal, prefix)));
  return problems;
}

function fits(found: StoredRecord, expected: ExpectedRecord): boolean {
  const { revision, title, note, archived } = expected;
  return (
    found.revision === revision &&
    found.title === title &&
    found.note === note &&
    found.archived === archived &&
    found.taken === expected.taken
  );
}

/** Comments, attachments and relations: each one with an Idempotency-Key exists once, with the id of the response. */
async function judgeAround(rows: Rows, journal: WorkloadJournal, prefix: string): Promise<string[]> {
  const problems: string[] = [];
  const kinds = [
    {
      what: 'comment',
      expected: journal.comments.map(({ key, id, objectId }) => `${key} ${id} ${objectId}`),
      found: await rows<{ said: string }>(
        `SELECT concat_ws(' ', body, id, object_id) AS said FROM comments WHERE starts_with(body, $1)`,
        [prefix],
      ),
    },
    {
      what: 'attachment',
      expected: journal.attachments.map((one) => `${one.key}.txt ${one.id} ${one.objectId} ${one.sha256} ${one.size}`),
      found: await rows<{ said: string }>(
        `SELECT concat_ws(' ', original_filename, id, object_id, sha256, size) AS said FROM attachments
        WHERE starts_with(original_filename, $1)`,
        [prefix],
      ),
    },
    {
      what: 'relation',
      expected: journal.relations.map(({ id, sourceId, targetId }) => `${id} ${sourceId} ${targetId}`),
      found: await rows<{ said: string }>(
        `SELECT concat_ws(' ', r.id, r.source_id, r.target_id) AS said
        FROM relations r JOIN objects o ON o.id = r.source_id WHERE starts_with(o."values" ->> 'tag', $1)`,
        [prefix],
      ),
    },
  ];
  for (const { what, expected, found } of kinds) {
    const there = new Set(found.map(({ said }) => said));
    if (there.size !== found.length) problems.push(`a ${what} exists twice`);
    for (const one of expected)
      if (!there.delete(one)) problems.push(`the ${what} ${one} was acknowledged and is lost`);
    for (const one of there) problems.push(`the ${what} ${one} exists, but was never acknowledged`);
  }
  return problems;
}

/**
 * Values changed directly in the database: SQL changes each column of the important tables. `docket doctor --deep` must report
 * the row, or the table below states why it cannot.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { raw } from 'sql-template-tag';
import { examineSearch } from '../src/cli/search-check.ts';
import { runCheck } from '../src/platform/audit/checks.ts';
import { FileBlobs } from '../src/platform/blobs/filesystem.ts';
import { MODULES } from '../src/modules.ts';
import { collect } from '../src/platform/module.ts';
import { type RecordFixture, startRecordFixture } from './harness/record-fixture.ts';

/** Tables whose every column is either checked or listed below. */
const REPLAYED = ['objects', 'comments', 'attachments', 'relations'] as const;

/** Column → why a change of it alone is not detected. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'objects.number':
    'The database draws it when the row of history is made already. The check of the search projection (I11) finds it.',
};

/** Tables of the schema that are not replayed, and why. */
const OTHER_TABLES: Readonly<Record<string, string>> = {
  attachment_drafts: 'Files that no comment has taken yet: no event, and removed after a day.',
  api_keys: 'Only hashes; each creation, rotation and revocation is in the audit log.',
  audit_heads: 'How far heads were written; the heads themselves stand elsewhere.',
  blobs: 'When content was last touched; content itself is compared with its hash (I8).',
  calendar_versions: 'Compiled from the configuration.',
  config_ids: 'Ids of the parts of configuration items.',
  config_item_versions: 'Its newest rows are compared with config_items (I13); each change is in the audit log.',
  config_items: 'Compared with config_item_versions (I13); each change is in the audit log with the whole definition.',
  config_versions: 'When and by whom; the audit log has the same.',
  desk_queues: 'Saved lists of one person.',
  report_dashboards: 'Saved reports of one person.',
  cache_versions: 'Counters that tell processes to read again.',
  external_ids: 'Which imported row became which record: work data of imports.',
  group_members: 'Each change is in the audit log, by call or by bundle.',
  groups: 'Each change is in the audit log, by call or by bundle.',
  idempotency: 'Kept for a day; its answers are held against their effects (I5).',
  import_rows: 'Results of imports; counts are checked (I4).',
  import_runs: 'Results of imports; counts are checked (I4).',
  inbound_runs: 'A log of calls, purged by age.',
  inline_images: 'Content is compared with its hash and size (I8).',
  journal: 'Sealed: docket audit verify.',
  journal_consumers: 'Places of the consumers, compared with the places of the journal (I14).',
  journal_epochs: 'When places of the changes feed could be lost; nothing is restored from it.',
  journal_places: 'Each committed row of the journal has one place (I14).',
  journal_placing: 'Progress of giving places, compared with them (I14).',
  journal_sealing: 'Sealed: docket audit verify.',
  journal_seals: 'Sealed: docket audit verify.',
  kb_articles: 'Each change is in the audit log without the text.',
  kb_images: 'Content is compared with its hash and size (I8).',
  kb_versions: 'Each change is in the audit log without the text.',
  kb_view_days: 'Views of articles are counted, not recorded as events.',
  kb_views: 'Views of articles are counted, not recorded as events.',
  kb_votes: 'Votes of readers are counted, not recorded as events.',
  mail_bounces: 'What bounces say about mails to users.',
  mail_messages: 'A log of received mail; its effects are in the history of records.',
  mail_outgoing: 'Mails about events that are in the history of records.',
  mail_threads: 'Handles of records and users in the addresses of replies.',
  mailbox_readers: 'Leases of the processes that read mailboxes.',
  master_key: 'A fingerprint of the key; docket doctor detects a wrong one.',
  notification_imports: 'Imports that notify; each row is of a transaction of the journal.',
  notification_mails: 'Mails that are not sent yet.',
  notification_making: 'Not used any more; the next version drops it.',
  notification_settings: 'Choices of one person.',
  notification_watch_check: 'Progress of judging watches.',
  notification_watchers: 'What one person watches; each has its record (I4).',
  notifications: 'Derived from events, purged by age; each has its record (I4).',
  org_members: 'Each change is in the audit log, by call or by bundle.',
  org_units: 'Each change is in the audit log, by call or by bundle.',
  outbox: 'Not used any more; the next version drops it.',
  report_facts: 'Derived from the history of records; a rebuild recomputes it.',
  rebuilds: 'Progress of rebuilds of derived data.',
  report_rebuild: 'Used by the version before.',
  report_cells: 'Counts of records; docket doctor --deep compares them (I11).',
  report_counted: 'How each record was counted (I11).',
  report_counted_types: 'Progress of counting.',
  report_counting: 'Not used any more; the next version drops it.',
  rule_timers: 'When time-based rules fire; computed again from the history of records when they do.',
  rule_timer_scans: 'Used by the version before.',
  rule_runs: 'A log of what rules did, purged by number; the changes are in the history of the records.',
  rate_budgets: 'Counters of the last minute.',
  role_assignments: 'Each change is in the audit log with the role that it belongs to.',
  schema_migrations: 'Compared with the migrations of the package at each start.',
  search_articles: 'Derived from articles; docket doctor --deep compares it (I11).',
  search_comments: 'Derived from comments; docket doctor --deep compares it (I11).',
  search_rebuild: 'Used by the version before.',
  search_records: 'Derived from records; docket doctor --deep compares it (I11).',
  search_pending_words: 'Pending work.',
  search_rewritten: 'Tells indexes in memory which records to read again.',
  search_words: 'Vocabulary for matching words with typing errors.',
  sessions: 'Only hashes, for 12 hours.',
  sign_in_attempts: 'Counters of failed sign-ins of the last minutes.',
  sign_in_origins: 'Addresses and devices of earlier sign-ins. They relax limits but give no access.',
  signing_secret_values: 'Encrypted with the master key; decryption detects a change.',
  sla_instances: 'Computed from the history of the record; docket doctor checks that each has its record.',
  removed_states: 'Follows from the workflows in the audit log: states that were removed from them.',
  type_versions: 'Compiled from the configuration.',
  users: 'Each change is in the audit log, by call or by bundle.',
  webhook_attempts: 'A log of deliveries, purged by age.',
  webhook_deliveries: 'Compared with the events (I6, I7), purged by age.',
  webhook_periods: 'When subscriptions were enabled; each change of one is in the audit log.',
};

interface Column {
  table: string;
  column: string;
  type: string;
}

/** Columns with few possible values. */
const OTHER_VALUE: Readonly<Record<string, string>> = {
  state: `CASE state WHEN 'ACTIVE' THEN 'ARCHIVED' ELSE 'ACTIVE' END`,
  visibility: `CASE visibility WHEN 'public' THEN 'internal' ELSE 'public' END`,
  values: `"values" || '{"note": "written by hand"}'`,
  folded: `folded || '{"note": "written by hand"}'`,
};

function otherValue({ column, type }: Column): string {
  const name = `"${column}"`;
  const byType: Readonly<Record<string, string>> = {
    uuid: 'gen_random_uuid()',
    text: `coalesce(${name}, '') || 'x'`,
    integer: `${name} + 1`,
    'timestamp with time zone': `coalesce(${name}, now()) + interval '1 hour'`,
  };
  const value = OTHER_VALUE[column] ?? byType[type];
  assert.ok(value !== undefined, `no other value for ${column} of type ${type}`);
  return value;
}

let fixture: RecordFixture;

/** Findings of all checks while the statement is in effect; it is rolled back. */
async function foundAfter(statement: string): Promise<string[]> {
  const parts = { blobs: new FileBlobs(fixture.app.blobFolder), config: fixture.app.app.versions.current() };
  const named: string[] = [];
  await fixture.app.db.transaction(
    'BEGIN',
    async (tx) => {
      // Foreign keys would reject some changes; a user with database access can disable them.
      await tx.query(raw(`SET LOCAL session_replication_role = 'replica'`));
      await tx.query(raw(statement));
      for (const check of collect(MODULES, 'checks')) named.push(...(await check.find({ db: tx, ...parts })).named);
    },
    () => false,
  );
  return named;
}

/** Records with everything that history must follow. */
async function live(): Promise<void> {
  const { id } = await fixture.make({ title: 'with a past', kind: 'a', count: 7, note: 'first' });
  const transition = async (code: string, revision: number, values = {}): Promise<void> => {
    const workflow = await fixture.ok('chief', 'GET', `/objects/${id}/workflow`);
    await fixture.ok('chief', 'POST', `/objects/${id}/transitions`, {
      transitionId: workflow.transitions.find((one: { code: string }) => one.code === code).id,
      expectedRevision: revision,
      expectedStateId: workflow.state.id,
      values,
    });
  };
  await fixture.ok('agent', 'PATCH', `/objects/${id}`, {
    expectedRevision: 1,
    changes: { count: null, note: 'second' },
  });
  await transition('take', 2, { note: 'third' });
  await transition('hold', 3, { $reason: 'waits' });
  const other = await fixture.make({ title: 'other', kind: 'b', day: '2026-01-31' }, 'case');
  for (const visibility of ['public', 'internal']) {
    const comment = await fixture.ok('chief', 'POST', `/objects/${id}/comments`, {
      body: `said ${visibility}`,
      visibility,
    });
    if (visibility === 'public') continue;
    const patched = { expectedRevision: 1, body: 'said otherwise', visibility: 'public' };
    await fixture.ok('chief', 'PATCH', `/comments/${comment.id}`, patched);
  }
  const gone = await fixture.ok('chief', 'POST', `/objects/${id}/comments`, { body: 'gone', visibility: 'public' });
  await fixture.ok('chief', 'DELETE', `/comments/${gone.id}`, { expectedRevision: 1 });
  const files: { id: string }[] = [];
  for (const filename of ['a.txt', 'b.txt']) {
    const body = { filename, mediaType: 'text/plain', contentBase64: Buffer.from(filename).toString('base64') };
    files.push(await fixture.ok('chief', 'POST', `/objects/${id}/attachments`, body));
  }
  await fixture.ok('chief', 'DELETE', `/attachments/${files[0]?.id}`, { expectedRevision: 1 });
  const definitions = await fixture.rows<{ id: string }>(
    `SELECT id FROM config_items WHERE section = 'relationDefinitions' AND code IN ('about', 'twin') ORDER BY code`,
  );
  const relations: { relation: { id: string } }[] = [];
  for (const definition of definitions) {
    const body = { definitionId: definition.id, targetObjectId: other.id };
    relations.push(await fixture.ok('chief', 'POST', `/objects/${id}/relations`, body));
  }
  await fixture.ok('chief', 'DELETE', `/relations/${relations[0]?.relation.id}`, { expectedRevision: 1 });
  const archived = await fixture.make({ title: 'archived', kind: 'a' });
  await fixture.ok('chief', 'DELETE', `/objects/${archived.id}`, { expectedRevision: 1 });
}

describe('current values compared with history', () => {
  before(async () => {
    fixture = await startRecordFixture();
    await live();
  });
  after(() => fixture.close());

  it('match unless the database was changed directly', async () => {
    const parts = { blobs: new FileBlobs(fixture.app.blobFolder), config: fixture.app.app.versions.current() };
    for (const check of collect(MODULES, 'checks')) {
      const { named } = await runCheck(fixture.app.db, check, parts);
      assert.deepEqual(named, [], check.name);
    }
  });

  it('do not expose the parts of history that exist for the comparison', async () => {
    const [row] = await fixture.rows<{ id: string }>(`SELECT id FROM objects WHERE title = 'with a past'`);
    const history = await fixture.ok('chief', 'GET', `/objects/${row?.id}/history`);
    assert.ok(history.length > 8);
    assert.doesNotMatch(JSON.stringify(history), /\$stored/);
    const kept = await fixture.rows<{ n: number }>(`SELECT count(*)::int AS n FROM journal WHERE data ? '$stored'`);
    assert.ok((kept[0]?.n ?? 0) > 5);
  });

  it('report mismatches column by column in every row, or why a row cannot be compared', async () => {
    const columns = await fixture.rows<Column>(`
      SELECT table_name AS table, column_name AS column, data_type AS type FROM information_schema.columns
      WHERE table_schema = 'public' ORDER BY 1, ordinal_position`);
    const tables = new Set(columns.map(({ table }) => table));
    assert.deepEqual(
      [...REPLAYED, ...Object.keys(OTHER_TABLES)].sort(),
      [...tables].sort(),
      'every table is spoken of',
    );
    const silent: string[] = [];
    for (const one of columns.filter(({ table }) => (REPLAYED as readonly string[]).includes(table))) {
      const name = `${one.table}.${one.column}`;
      const rows = await fixture.rows<{ id: string }>(`SELECT id FROM ${one.table}`);
      for (const { id } of rows) {
        const named = await foundAfter(
          `UPDATE ${one.table} SET "${one.column}" = ${otherValue(one)} WHERE id = '${id}'`,
        );
        // A changed id makes a row without history, and history without its row.
        const found = one.column === 'id' ? named.length >= 2 : named.some((what) => what.includes(id));
        if (!found && !silent.includes(name)) silent.push(name);
      }
    }
    assert.deepEqual(silent.sort(), Object.keys(EXCEPTIONS).sort());
  });

  it('reveal a changed number through the search index', async () => {
    const tool = { work: fixture.app.app.work, caller: fixture.app.app.system() };
    assert.equal((await examineSearch(tool, true)).ok, true);
    const renumber = (from: string, to: string): Promise<unknown> =>
      fixture.rows('UPDATE objects SET number = $2 WHERE number = $1', [from, to]);
    await renumber('CASE0001', 'CASE9001');
    const { ok, says } = await examineSearch(tool, true);
    assert.ok(!ok, says);
    await renumber('CASE9001', 'CASE0001');
    assert.equal((await examineSearch(tool, true)).ok, true);
  });
});

/** Renames where roles, conditions and macros name things of several record types. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import { roleView } from '../src/domain/access/roles.ts';
import { storedCodesOf } from '../src/domain/metadata/stored-codes.ts';
import { loadSnapshot } from '../src/platform/unit-of-work/snapshot.ts';
import { type BundleFixture, changed, file, startBundleFixture } from './support/bundle-fixture.ts';
import { duringTransaction } from './support/database.ts';

describe('a rename in some of several types', () => {
  let fixture: BundleFixture;
  let types = `
types:
  - { code: ta, workflow: wa, fields: [ { code: note, dataType: string }, { code: summary, dataType: string } ] }
  - { code: tb, workflow: wb, fields: [ { code: note, dataType: string }, { code: secret, dataType: string } ] }
  - { code: tc, workflow: wa, fields: [ { code: note, dataType: string }, { code: salary, dataType: integer } ] }
  - { code: td, fields: [ { code: note, dataType: string }, { code: wage, dataType: integer } ] }
workflows:
  - { code: wa, initial: open, states: [ { code: open, category: open }, { code: done, category: done } ], transitions: [ { code: close, from: [open], to: done } ] }
  - { code: wb, initial: waiting, states: [ { code: waiting, category: open }, { code: hidden, category: done } ], transitions: [ { code: approve, from: [waiting], to: hidden } ] }
`;
  const ROLES = `
roles:
  - { code: lists, records: [ { type: '*', actions: [read, update, transition], fields: { read: [note, summary], write: [summary] }, transitions: [close] } ] }
  - { code: noted, records: [ { type: '*', where: { field: note, operator: equals, value: x }, actions: [read] } ] }
  - { code: states, records: [ { type: '*', where: { field: workflowState, operator: equals, value: done }, actions: [read] } ] }
  - { code: others, records: [ { type: '*', where: { field: workflowState, operator: not-equals, value: done }, actions: [read] } ] }
users: [ { login: berta } ]
signingSecrets: [ main ]
webhooks:
  - { code: hook, endpoint: 'https://hooks.example.org/x', secretRef: main, executionPrincipal: berta, eventTypes: [ObjectCreated], filters: { types: [ta, tb], condition: { field: summary, operator: equals, value: x } }, enabled: false }
`;
  const MACRO = `
macros:
  - { code: prepared, types: [ta, tb], comment: { visibility: public, body: 'About {{ note }}' }, set: { note: x } }
`;
  /** The types and workflows with a new code in one of them. */
  const renamed = (item: string, from: string, to: string, text = types): string =>
    text.replace(new RegExp(`^.*code: ${item},.*$`, 'm'), (line) =>
      line.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), to).replace(`code: ${to}`, `code: ${to}, was: ${from}`),
    );
  const stored = async (section: string, code: string): Promise<any> => {
    const rows = await fixture.db.query<{ definition: unknown }>(
      sql`SELECT definition FROM config_items WHERE section = ${section} AND code = ${code}`,
    );
    return rows[0]?.definition;
  };
  const where = async (role: string): Promise<unknown> => (await stored('roles', role)).records[0].where;
  const of = (codes: string[], leaf: object): object => ({
    logic: 'AND',
    conditions: [{ field: 'typeCode', operator: 'in', value: codes }, leaf],
  });
  const leaf = (field: string, value: string, operator = 'equals'): object => ({ field, operator, value });
  /** Renames for good, without the right to assign roles. */
  const apply = async (next: string): Promise<void> => {
    await fixture.applyAs(['config.manage'], file(next));
    types = next;
  };
  before(async () => {
    fixture = await startBundleFixture();
    await fixture.apply(file(types + ROLES));
  });
  after(() => fixture.close());

  it('needs the right to assign roles where a role would cover more, and the plan says it', async () => {
    const cases = [
      ['tb', 'secret', 'summary', 'secret of types/tb and will cover it as summary'],
      ['wb', 'approve', 'close', 'approve of workflows/wb and will cover it as close'],
      ['ta', 'note', 'wage', 'wage of types/td and will cover it as wage'],
    ] as const;
    for (const [item, from, to, note] of cases) {
      const files = file(renamed(item, from, to));
      const plan = await fixture.plan(files);
      const notes = plan.map((one) => one.note).join();
      assert.ok(notes.includes(`roles/lists does not cover ${note}`), notes);
      await assert.rejects(fixture.applyAs(['config.manage'], files), /right missing: role.assign/, from);
    }
  });

  it('keeps a condition limited to the types for which it was true', async () => {
    await apply(renamed('wb', 'hidden', 'done'));
    assert.deepEqual(await where('states'), of(['ta', 'tc'], leaf('workflowState', 'done')));
    assert.deepEqual(await where('others'), {
      logic: 'OR',
      conditions: [
        of(['ta', 'tc'], leaf('workflowState', 'done', 'not-equals')),
        of(['tb'], leaf('workflowState', 'hidden', 'not-equals')),
        of(['td'], leaf('workflowState', 'done', 'not-equals')),
      ],
    });
    await apply(renamed('tb', 'secret', 'remark'));
    // A role that reads `summary` would read what the other type has under the new code.
    types = renamed('ta', 'summary', 'remark');
    await fixture.apply(file(types));
    assert.deepEqual((await stored('webhooks', 'hook')).filters.condition, of(['ta'], leaf('remark', 'x')));
  });

  it('splits a condition of a role by type', async () => {
    await apply(renamed('tb', 'note', 'text'));
    const split = {
      logic: 'OR',
      conditions: [of(['ta', 'tc', 'td'], leaf('note', 'x')), of(['tb'], leaf('text', 'x'))],
    };
    assert.deepEqual(await where('noted'), split);
    const role = (await loadSnapshot(fixture.db)).get(roleView);
    assert.equal(role.one(role.ids.get('noted') ?? '')?.grants.size, 4);
    assert.deepEqual(changed(await fixture.plan(await fixture.export(true), { prune: true })), []);
  });

  it('is refused where a place has one code for all types, unless the bundle changes it', async () => {
    await fixture.apply(file(MACRO.replaceAll('tb', 'tc')));
    const next = renamed('tc', 'note', 'words');
    const problems = await fixture.refused(file(next));
    assert.deepEqual(
      problems.map(({ path, reason }) => [path, reason]),
      [
        ['macros/prepared set.note', 'RENAME_IN_ALL_TYPES'],
        ['macros/prepared comment.body', 'RENAME_IN_ALL_TYPES'],
      ],
    );
    await apply(next + MACRO.replace(', tb', ''));
  });

  const ONE = (field: string): string => `types: [ { code: one, title: null, fields: [ ${field} ] } ]\n`;

  it('finds stored values of a removed field that was renamed', async () => {
    await fixture.apply(file(ONE('{ code: impact, dataType: string }')));
    await fixture.db.query(sql`
      INSERT INTO objects (id, type_id, type_version, revision, "values", folded, created_at, updated_at)
      SELECT gen_random_uuid(), id, 1, 1, '{"impact":"x"}', '{}', now(), now() FROM config_items WHERE code = 'one'`);
    await fixture.apply(file(ONE('{ code: effect, was: impact, dataType: string }')));
    await fixture.apply(file(ONE('{ code: kept, dataType: string }')), { discard: ['types.one.effect'] });
    const back = ONE('{ code: kept, dataType: string }, { code: effect, dataType: integer }');
    assert.deepEqual(
      (await fixture.refused(file(back))).map(({ reason }) => reason),
      ['CODE_IN_USE'],
    );
  });

  it('waits for writers of records once, two seconds at most', async () => {
    /** The limit on waiting for locks with which the transaction asks for the lock, each time. */
    const limits: string[] = [];
    const { transaction } = fixture.db;
    fixture.db.transaction = async (begin, fn, keep) =>
      (await transaction.call(
        fixture.db,
        begin,
        async (tx) =>
          await fn({
            ...tx,
            query: async (statement, options) => {
              if (statement.text.startsWith('LOCK TABLE objects')) {
                const [row] = await tx.query<{ limit: string }>(sql`SELECT current_setting('lock_timeout') AS limit`);
                limits.push(row?.limit ?? '');
              }
              return await tx.query(statement, options);
            },
          }),
        keep as never,
      )) as never;
    try {
      // The writers end after the refusal only.
      await duringTransaction(fixture.db, async (client) => {
        await client.query('LOCK TABLE objects IN ROW EXCLUSIVE MODE');
        const gone = fixture.apply(file(ONE('{ code: other, dataType: string }')));
        await assert.rejects(gone, (error: { code?: unknown }) => error.code === 'OVERLOADED');
      });
    } finally {
      fixture.db.transaction = transaction;
    }
    assert.deepEqual(limits, ['2s']);
  });
});

it('values that a process without renames stored under the current code are newer', () => {
  const field = { code: 'effect', storedAs: 'impact', constraints: {} };
  const codes = storedCodesOf({
    versions: new Map([[1, { version: 1, fields: new Map([['effect', field]]), workflow: null }]]),
  });
  for (const values of [
    { effect: 'new', impact: 'old' },
    { impact: 'old', effect: 'new' },
  ])
    assert.deepEqual(codes?.decode(values as never), { effect: 'new' });
});

/**
 * One command for all channels (docs/architecture.md): the same change by endpoint, bulk call, catalogue item, inbound call or
 * import returns the same result, word for word, and leaves the same records and the same journal.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type RecordFixture, type Made, type FixtureUser, startRecordFixture } from './support/record-fixture.ts';
import { type InboundFixture, inboundOf, UPDATE } from './support/inbound-fixture.ts';

const REPORT = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'So be it.' }] }] };

/** Targets of integrations that are no fields. */
const SYSTEM_TARGETS = new Set(['objectId', 'expectedRevision']);

interface Scenario {
  name: string;
  operation: 'update' | 'archive' | 'transition';
  who?: FixtureUser;
  /** Values of the record. */
  values?: Record<string, unknown>;
  /** What happens to it before. */
  before?: (made: Made) => Promise<unknown>;
  /** The item without its record; the record's present revision and state unless given. */
  item?: Record<string, unknown>;
  /** A record that is not there. */
  absent?: true;
  /** The expected result: a status and the error code. */
  expected: number | string;
}

let fixture: RecordFixture;
let inbound: InboundFixture;
/** An integration that changes records. */
let changing: string;
/** An import that does. */
let importing: string;

const take = async (made: Made): Promise<void> => {
  const body = { transitionId: fixture.id('take'), expectedRevision: 1, expectedStateId: made.stateId };
  await fixture.ok('chief', 'POST', `/objects/${made.id}/transitions`, body);
};
const patch =
  (changes: object) =>
  async (made: Made): Promise<void> =>
    await fixture.ok('chief', 'PATCH', `/objects/${made.id}`, { expectedRevision: 1, changes });
const archive = (made: Made): Promise<void> => fixture.archive(made);

function scenarios(): Scenario[] {
  const update = (
    name: string,
    changes: object,
    expected: number | string,
    more: Partial<Scenario> = {},
  ): Scenario => ({
    name,
    operation: 'update',
    item: { changes },
    expected,
    ...more,
  });
  const move = (
    name: string,
    code: string,
    values: object,
    expected: number | string,
    more: Partial<Scenario> = {},
  ): Scenario => ({
    name,
    operation: 'transition',
    expected,
    ...more,
    item: { transitionId: fixture.id(code), values, ...more.item },
  });
  return [
    update('a change', { note: 'x', count: 5, kind: 'b' }, 200),
    update('a change of nothing', { title: 'A record' }, 200),
    update('clearing', { kind: null, note: null }, 200, { values: { note: 'before' } }),
    update('a change out of sight', { kind: 'b', note: 'x' }, 200, { who: 'agent' }),
    update('a stale revision', { note: 'x' }, 'REVISION_CONFLICT', {
      item: { changes: { note: 'x' }, expectedRevision: 1 },
      before: patch({ note: 'y', secret: 'z' }),
      who: 'agent',
    }),
    update('a revision to come', { note: 'x' }, 'REVISION_CONFLICT', {
      item: { changes: { note: 'x' }, expectedRevision: 9 },
    }),
    update(
      'wrong values, all at once',
      { title: null, count: -5, kind: 'zzz', day: 'today', note: 7 },
      'INVALID_VALUES',
    ),
    update('a hidden field', { secret: 'x' }, 'INVALID_VALUES', { who: 'agent' }),
    update('a field that is not there', { nothing: 'x' }, 'INVALID_VALUES', { who: 'agent' }),
    update('a field to be read alone', { grade: 'x', note: 'y' }, 'FIELD_READ_ONLY', { who: 'agent' }),
    update('one to be read alone, before all', { grade: 'x', nothing: 1 }, 'FIELD_READ_ONLY', {
      who: 'agent',
      before: archive,
    }),
    update('a revision of no record', { note: 'x' }, 'REVISION_CONFLICT', {
      item: { changes: { note: 'x' }, expectedRevision: Number.MAX_SAFE_INTEGER },
    }),
    update('a reference to nothing', { cause: randomUUID(), assignee: randomUUID() }, 'INVALID_VALUES'),
    update('the state', { workflowState: 'work' }, 'INVALID_VALUES'),
    update('no right', { note: 'x' }, 'RIGHT_MISSING', { who: 'viewer' }),
    update('a hidden record', { note: 'x' }, 'NOT_FOUND', { who: 'viewer', values: { kind: 'b' } }),
    update('an absent record', { note: 'x' }, 'NOT_FOUND', { absent: true }),
    update('an archived record', { note: 'x' }, 'ARCHIVED', { before: archive }),
    update('an archived record, stale', { note: 'x' }, 'ARCHIVED', {
      before: archive,
      item: { changes: { note: 'x' }, expectedRevision: 1 },
    }),
    { name: 'archiving', operation: 'archive', expected: 200 },
    { name: 'archiving, stale', operation: 'archive', item: { expectedRevision: 3 }, expected: 'REVISION_CONFLICT' },
    { name: 'archiving twice', operation: 'archive', before: archive, expected: 'ARCHIVED' },
    { name: 'archiving without the right', operation: 'archive', who: 'viewer', expected: 'RIGHT_MISSING' },
    {
      name: 'archiving what is hidden',
      operation: 'archive',
      who: 'viewer',
      values: { kind: 'b' },
      expected: 'NOT_FOUND',
    },
    move('a transition', 'take', { note: 'mine' }, 200, { who: 'agent' }),
    move('a transition with reason', 'hold', { $reason: 'later', grade: 'A' }, 200, { before: take }),
    move('a transition with report', 'finish', { $decisionReport: REPORT, secret: 's', solution: 'x' }, 200, {
      before: take,
    }),
    move('what a form requires', 'finish', { solution: 1, other: 2 }, 'INVALID_VALUES', { before: take }),
    move('a field beside the form', 'hold', { $reason: 'x', title: 'y' }, 'INVALID_VALUES', { before: take }),
    move('a hidden field of the form', 'hold', { $reason: 'x', secret: 'y' }, 'INVALID_VALUES', {
      before: take,
      who: 'agent',
    }),
    move('a field of the form to be read alone', 'hold', { $reason: 'x', grade: 'y' }, 'FIELD_READ_ONLY', {
      before: take,
      who: 'agent',
    }),
    move('one to be read alone, too late', 'hold', { grade: 'y' }, 'FIELD_READ_ONLY', { who: 'agent' }),
    move('a condition', 'take', {}, 'TRANSITION_CONDITION_NOT_MET', {
      values: { kind: 'b', secret: 'x' },
      who: 'agent',
    }),
    move('a transition from elsewhere', 'finish', {}, 'TRANSITION_NOT_AVAILABLE'),
    move('a transition that is not there', 'take', {}, 'TRANSITION_NOT_AVAILABLE', {
      item: { transitionId: randomUUID() },
    }),
    move('a transition not held', 'finish', {}, 'RIGHT_MISSING', { before: take, who: 'agent' }),
    move('a transition, stale', 'take', {}, 'REVISION_CONFLICT', {
      item: { expectedRevision: 1 },
      before: patch({ note: 'x' }),
    }),
    move('a transition from another state', 'take', {}, 'STATE_CONFLICT', { item: { expectedStateId: randomUUID() } }),
    move('a transition of the archived', 'take', {}, 'ARCHIVED', { before: archive }),
    move('a transition of the hidden', 'take', {}, 'NOT_FOUND', { who: 'viewer', values: { kind: 'b' } }),
  ];
}

/** The text without the record's own id, number and times, by which equal records may differ. */
function anonymous(value: unknown, made: Made): unknown {
  const text = JSON.stringify(value, (key, inner) => (/^(?:number|.*At|at)$/.test(key) ? '-' : inner));
  return JSON.parse(text.replaceAll(made.id, 'ID'));
}

async function prepared({ values, before: first }: Scenario): Promise<Made> {
  const made = await fixture.make(values);
  await first?.(made);
  return made;
}

async function itemFor(scenario: Scenario, made: Made): Promise<Record<string, unknown>> {
  const { revision, workflowState } = await fixture.ok('chief', 'GET', `/objects/${made.id}`);
  const state = scenario.operation === 'transition' ? { expectedStateId: workflowState.id } : {};
  return { expectedRevision: revision, ...state, ...scenario.item };
}

/** Everything stored about the record afterwards, without the channel. */
async function traces(made: Made): Promise<unknown> {
  const journal = await fixture.rows<{ via: string }>(
    'SELECT type, revision, actor_id, key_id, changes, data, via FROM journal WHERE object_id = $1 ORDER BY seq',
    [made.id],
  );
  const [record] = await fixture.rows(
    `SELECT title, revision, state, workflow_state_id, "values", folded, updated_by FROM objects WHERE id = $1`,
    [made.id],
  );
  return anonymous({ record, journal: journal.map(({ via: _via, ...row }) => row) }, made);
}

/** Everything stored about a new record, without its creator, channel and requester. */
async function created(made: Made): Promise<unknown> {
  const [record] = await fixture.rows<object>(
    `SELECT type_id, type_version, title, revision, state, workflow_state_id, "values", folded FROM objects WHERE id = $1`,
    [made.id],
  );
  const journal = await fixture.rows('SELECT type, revision, changes FROM journal WHERE object_id = $1', [made.id]);
  return anonymous({ record, journal }, made);
}

interface Verdict {
  revision?: unknown;
  error?: unknown;
}

const METHODS = { update: ['PATCH', ''], archive: ['DELETE', ''], transition: ['POST', '/transitions'] } as const;

async function byEndpoint({ operation, who = 'chief' }: Scenario, id: string, item: object): Promise<Verdict> {
  const [method, suffix] = METHODS[operation];
  const { status, body } = await fixture.call(who, method, `/objects/${id}${suffix}`, item);
  if (status >= 300) return { error: body.error };
  return { revision: operation === 'transition' ? body.data.object.revision : body.data.revision };
}

async function byBulk({ operation, who = 'chief' }: Scenario, id: string, item: object): Promise<Verdict> {
  const items = [{ objectId: id, ...item }];
  const [result] = await fixture.ok<any[]>(who, 'POST', '/bulk', { operation, items });
  assert.equal(result.objectId, id);
  assert.equal(result.status, result.error === undefined ? 'SUCCEEDED' : 'FAILED');
  return result.error === undefined ? { revision: result.revision } : { error: result.error };
}

/** An integration maps only configured properties, so unknown fields cannot occur. */
function comesByInbound({ operation, item }: Scenario): boolean {
  const targets = new Set(UPDATE.mapping.map(({ target }) => target));
  return operation === 'update' && Object.keys(item?.['changes'] ?? {}).every((code) => targets.has(code));
}

/** An import uses the current revision and maps only configured properties. */
function comesByImport(scenario: Scenario): boolean {
  return comesByInbound(scenario) && scenario.item?.['expectedRevision'] === undefined;
}

async function byImport({ who = 'chief' }: Scenario, id: string, item: Record<string, unknown>): Promise<Verdict> {
  // As if an earlier run had made the record.
  await fixture.rows(
    `INSERT INTO external_ids (source_code, target_kind, external_id, target_id, created_at) VALUES ('there', 'object', $1, $2, now())`,
    [`ext ${id}`, id],
  );
  const content = JSON.stringify([{ ext: `ext ${id}`, ...(item['changes'] as object) }]);
  const { rows } = await fixture.ok(who, 'POST', '/imports/run', { definitionId: importing, content, dryRun: false });
  const [{ status, errors }] = rows;
  return status === 'FAILED' ? { error: errors } : { revision: status };
}

/** The endpoint's result in the form of an import row. */
function asRow({ error, revision }: Verdict, before: unknown): Verdict {
  if (error === undefined) return { revision: revision === before ? 'SKIPPED' : 'UPDATED' };
  const { code, message, details } = error as { code: string; message: string; details: unknown };
  if (!Array.isArray(details) || details.length === 0) return { error: [{ path: '', code, message }] };
  const moved = details.map((one: { path: string }) => ({ ...one, path: one.path.replace('/changes', '/values') }));
  return { error: moved.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** Positions follow the order of the body's properties, which for an inbound call is that of the mapping. */
function ordered({ error, ...rest }: Verdict): Verdict {
  const { details } = (error ?? {}) as { details?: unknown };
  if (!Array.isArray(details)) return { ...rest, error };
  const sorted = [...details].sort((a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1));
  return { ...rest, error: { ...(error as object), details: sorted } };
}

async function byInbound({ who = 'chief' }: Scenario, id: string, item: Record<string, unknown>): Promise<Verdict> {
  const { changes, ...rest } = item;
  const answer = await inbound.call(who, changing, { objectId: id, ...rest, ...(changes as object) });
  if (answer.status >= 300) return { error: answer.body.error };
  assert.equal(answer.status, 201);
  return { revision: answer.body.data.revision };
}

describe('endpoint, bulk, inbound, import and catalogue', () => {
  before(async () => {
    fixture = await startRecordFixture({ clock: { now: () => Date.parse('2026-11-21T10:00:00.000Z') } });
    inbound = await inboundOf(fixture);
    changing = await inbound.integration(UPDATE);
    const targets = UPDATE.mapping.map(({ target }) => target).filter((target) => !SYSTEM_TARGETS.has(target));
    const definition = {
      code: 'ways-in',
      targetKind: 'object',
      targetTypeId: 'case',
      format: 'JSON',
      mode: 'UPSERT',
      sourceCode: 'there',
      resolver: { externalIdField: 'ext' },
      mapping: targets.map((target) => ({ source: target, target })),
    };
    ({ id: importing } = await fixture.ok('chief', 'POST', '/import-definitions', definition));
  });
  after(() => fixture.close());

  it('have the same result and the same journal', async () => {
    for (const scenario of scenarios()) {
      const [one, other] = [await prepared(scenario), await prepared(scenario)];
      const [first, second] = [await itemFor(scenario, one), await itemFor(scenario, other)];
      const gone = randomUUID();
      const single = await byEndpoint(scenario, scenario.absent ? gone : one.id, first);
      const many = await byBulk(scenario, scenario.absent ? gone : other.id, second);
      const outcome = (single.error as { code: string } | undefined)?.code ?? 200;
      assert.equal(outcome, scenario.expected, `${scenario.name}: ${JSON.stringify(single)}`);
      assert.deepEqual(anonymous(many, other), anonymous(single, one), scenario.name);
      assert.deepEqual(await traces(other), await traces(one), scenario.name);
      if (!comesByInbound(scenario)) continue;
      const outside = await prepared(scenario);
      const received = await byInbound(scenario, scenario.absent ? gone : outside.id, await itemFor(scenario, outside));
      assert.deepEqual(
        anonymous(ordered(received), outside),
        anonymous(ordered(single), one),
        `${scenario.name}, from outside`,
      );
      assert.deepEqual(await traces(outside), await traces(one), `${scenario.name}, from outside`);
      if (!comesByImport(scenario)) continue;
      const row = await prepared(scenario);
      const own = await itemFor(scenario, row);
      const said = await byImport(scenario, scenario.absent ? gone : row.id, own);
      if (Array.isArray(said.error)) said.error.sort((a, b) => (a.path < b.path ? -1 : 1));
      assert.deepEqual(
        anonymous(said, row),
        anonymous(asRow(single, own['expectedRevision']), one),
        `${scenario.name}, by import`,
      );
      assert.deepEqual(await traces(row), await traces(one), `${scenario.name}, by import`);
    }
    assert.ok(scenarios().filter(comesByImport).length >= 10);
    assert.ok(scenarios().filter(comesByInbound).length >= 12);
  });

  it('have the same results in one call with different items', async () => {
    for (const operation of ['update', 'archive', 'transition'] as const) {
      const chosen = scenarios().filter((one) => one.operation === operation && (one.who ?? 'chief') === 'chief');
      const pairs = [];
      for (const scenario of chosen) {
        const [one, other] = [await prepared(scenario), await prepared(scenario)];
        const item = await itemFor(scenario, one);
        const target = scenario.absent ? { ...other, id: randomUUID() } : other;
        pairs.push({ scenario, one, other, target, item, single: {} as Verdict });
      }
      for (const pair of pairs)
        pair.single = await byEndpoint(pair.scenario, pair.scenario.absent ? randomUUID() : pair.one.id, pair.item);
      const items = pairs.map(({ target, item }) => ({ objectId: target.id, ...item }));
      const results = await fixture.ok<any[]>('chief', 'POST', '/bulk', { operation, items });
      for (const [index, { scenario, one, other, single }] of pairs.entries()) {
        const { revision, error } = results[index];
        const many = error === undefined ? { revision } : { error };
        assert.deepEqual(anonymous(many, other), anonymous(single, one), scenario.name);
        assert.deepEqual(await traces(other), await traces(one), scenario.name);
      }
    }
  });

  it('create the same record for oneself and from the catalogue for another user', async () => {
    const chief = await fixture.person('chief');
    const problem = await fixture.make({ kind: 'b' }, 'problem');
    const creations: [name: string, who: FixtureUser, values: object, expected: number | string][] = [
      ['values', 'agent', { title: 'One', kind: 'a', count: 3, note: 'x', day: '2026-12-01' }, 201],
      ['rich text', 'agent', { title: 'One', body: REPORT }, 201],
      ['references', 'chief', { title: 'One', assignee: chief, cause: problem.id }, 201],
      ['nothing that is required', 'agent', { note: 'x' }, 'INVALID_VALUES'],
      ['wrong values', 'chief', { title: 5, count: -1, kind: 'z', day: 'x', causes: 'y' }, 'INVALID_VALUES'],
      ['a hidden field', 'agent', { title: 'One', secret: 'x' }, 'INVALID_VALUES'],
      ['a field that is not there', 'agent', { title: 'One', nothing: 'x' }, 'INVALID_VALUES'],
      ['a field to be read alone', 'agent', { title: 'One', grade: 'x' }, 'FIELD_READ_ONLY'],
      ['a reference out of sight', 'agent', { title: 'One', cause: problem.id }, 'INVALID_VALUES'],
      ['a reference to nothing', 'agent', { title: 'One', cause: randomUUID() }, 'INVALID_VALUES'],
      ['no right', 'viewer', { title: 'One' }, 'RIGHT_MISSING'],
    ];
    for (const [name, who, values, expected] of creations) {
      const own = await fixture.call(who, 'POST', '/objects', { typeDefinitionId: 'case', values });
      const asked = await fixture.call('chief', 'POST', `/catalog/items/${fixture.id('any-case')}/requests`, {
        requesterId: await fixture.person(who),
        values,
      });
      assert.equal(own.body.error?.code ?? own.status, expected, `${name}: ${JSON.stringify(own.body)}`);
      assert.equal(asked.status, own.status, `${name}: ${JSON.stringify(asked.body)}`);
      assert.deepEqual(asked.body.error, own.body.error, name);
      if (own.status !== 201) continue;
      const [mine, theirs] = [own.body.data as Made, asked.body.data as Made];
      assert.deepEqual(await created(theirs), await created(mine), name);
    }
  });

  it('are distinguishable in the journal', async () => {
    const made = await fixture.make();
    const items = [{ objectId: made.id, expectedRevision: 1, changes: { note: 'x' } }];
    await fixture.ok('chief', 'POST', '/bulk', { operation: 'update', items });
    await inbound.call('chief', changing, { objectId: made.id, expectedRevision: 2, note: 'y' });
    const events = await fixture.ok<any[]>('chief', 'GET', `/objects/${made.id}/history`);
    assert.deepEqual(
      events.map(({ actor }) => [actor.displayName, actor.via]),
      [
        ['Person chief', 'api'],
        ['Person chief', 'bulk'],
        ['Person chief', 'inbound'],
      ],
    );
  });
});

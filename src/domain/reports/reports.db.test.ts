/** Reports over HTTP: figures against an oracle, rights, groups, periods, time zones, and errors with their places. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { WorkTime } from '../../lib/worktime.ts';
import type { TestAnswer } from '../../../test/support/app.ts';
import {
  type FixtureUser,
  type RecordFixture,
  startRecordFixture,
  USERS,
} from '../../../test/support/record-fixture.ts';
import { reportJobs } from './jobs.ts';
import { startFactsRebuild } from './rebuild.ts';

interface Row {
  group: unknown[];
  values: (number | null)[];
}

let fixture: RecordFixture;
let keys: Record<FixtureUser, string>;

const send = (who: FixtureUser, body: unknown): Promise<TestAnswer> =>
  fixture.app.request('POST', '/api/admin/v1/reports/query', { key: keys[who], body });

async function report(who: FixtureUser, body: Record<string, unknown>): Promise<{ rows: Row[] } & Record<string, any>> {
  const answer = await send(who, { types: ['case'], measures: ['count'], ...body });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.data;
}

/** Group → figures. */
async function figures(who: FixtureUser, body: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { rows } = await report(who, body);
  const entries = rows.map(({ group, values }) => [
    group.map(String).join(' '),
    values.length === 1 ? values[0] : values,
  ]);
  return Object.fromEntries(entries);
}

async function refused(who: FixtureUser, body: Record<string, unknown>): Promise<unknown> {
  const answer = await send(who, { types: ['case'], measures: ['count'], ...body });
  assert.equal(answer.status, 400, JSON.stringify(answer.body));
  return answer.body.error.details.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`);
}

async function move(who: FixtureUser, id: string, code: string, body: Record<string, unknown> = {}): Promise<void> {
  const { revision, workflowState } = await fixture.ok(who, 'GET', `/objects/${id}`);
  await fixture.ok(who, 'POST', `/objects/${id}/transitions`, {
    transitionId: fixture.id(code),
    expectedRevision: revision,
    expectedStateId: workflowState.id,
    ...body,
  });
}

const FINISH = { values: { solution: 'Done', secret: 'x', $decisionReport: '<p>Decided.</p>' } };

async function facts(id: string): Promise<unknown> {
  const [row] = await fixture.rows<{ done: boolean; reopened: number; replied: boolean }>(
    `SELECT done_at IS NOT NULL AS done, reopened, first_reply_at IS NOT NULL AS replied FROM report_facts WHERE id = $1`,
    [id],
  );
  return { ...row };
}

/** Sets times that the service would take from its clock. */
async function shift(id: string, columns: Record<string, string>): Promise<void> {
  for (const [column, value] of Object.entries(columns)) {
    await fixture.rows(`UPDATE report_facts SET ${column} = $2 WHERE id = $1`, [id, value]);
    if (column === 'created_at') await fixture.rows('UPDATE objects SET created_at = $2 WHERE id = $1', [id, value]);
  }
}

describe('reports', () => {
  before(async () => {
    fixture = await startRecordFixture();
    const made = USERS.map(
      async (login) => [login, (await fixture.app.createKey({ login, scopes: ['admin:manage'] })).key] as const,
    );
    keys = Object.fromEntries(await Promise.all(made)) as Record<FixtureUser, string>;
  });
  after(() => fixture.close());

  it('counts records in groups, the largest first', async () => {
    for (const kind of ['a', 'a', 'a', 'b', null]) await fixture.make({ kind });
    const { rows, truncated, complete } = await report('chief', { groupBy: ['kind'] });
    assert.deepEqual(rows, [
      { group: ['a'], values: [3] },
      { group: ['b'], values: [1] },
      { group: [null], values: [1] },
    ]);
    assert.deepEqual([truncated, complete], [false, true]);
    assert.deepEqual((await report('chief', {})).rows, [{ group: [], values: [5] }]);
  });

  it('measures times, reopenings and moments of being done', async () => {
    const moved = await fixture.make({ kind: 'a', title: 'moved' });
    const open = await fixture.make({ kind: 'a', title: 'open' });
    await move('chief', moved.id, 'take');
    await move('chief', moved.id, 'finish', FINISH);
    await move('chief', moved.id, 'reopen');
    assert.deepEqual(await facts(moved.id), { done: false, reopened: 1, replied: false });
    await fixture.rows(`UPDATE objects SET "values" = "values" - 'secret' WHERE id = $1`, [moved.id]);
    await move('chief', moved.id, 'take');
    await move('chief', moved.id, 'finish', FINISH);
    for (const [id, visibility, who] of [
      [open.id, 'internal', 'agent'],
      [open.id, 'public', 'chief'],
      [moved.id, 'public', 'agent'],
    ] as const) {
      await fixture.ok(
        who === 'agent' && visibility === 'internal' ? 'chief' : who,
        'POST',
        `/objects/${id}/comments`,
        {
          body: 'Hello',
          visibility,
        },
      );
    }
    assert.deepEqual(await facts(moved.id), { done: true, reopened: 1, replied: true });
    assert.deepEqual(await facts(open.id), { done: false, reopened: 0, replied: false }, "the creator's own comment");
    await shift(moved.id, {
      created_at: '2026-03-02T10:00:00Z',
      first_reply_at: '2026-03-02T10:30:00Z',
      done_at: '2026-03-03T10:00:00Z',
    });
    const period = { of: 'doneAt', from: '2026-03-01', to: '2026-03-31' };
    const measures = [
      'count',
      'reopened',
      'timeToFirstReply.p50',
      'timeToDone.sum',
      'timeToDone.p90',
      'age.avg',
      'slaMet',
    ];
    const { rows } = await report('chief', { measures, period });
    assert.deepEqual(rows, [{ group: [], values: [1, 1, 1_800_000, 86_400_000, 86_400_000, null, null] }]);
    await fixture.archive(moved);
    assert.deepEqual(await figures('chief', { period }), { '': 0 }, 'archived records do not count');
  });

  it('equals an oracle for percentiles, averages and groups by day in a time zone', async () => {
    const zone = 'Pacific/Auckland';
    const made: { at: string; took: number; kind: string }[] = [];
    for (let turn = 0; turn < 40; turn++) {
      // Around the end of summer time in Auckland (2026-04-05) and around midnight.
      const at = new Date(Date.UTC(2026, 3, 3, 11, 50) + turn * 3_700_000).toISOString();
      const took = (turn * 7919) % 1000;
      const kind = turn % 3 === 0 ? 'a' : 'b';
      const { id } = await fixture.make({ kind });
      await shift(id, { created_at: at, done_at: new Date(Date.parse(at) + took * 1000).toISOString() });
      made.push({ at, took, kind });
    }
    const dayOf = (at: string): string => Temporal.Instant.from(at).toZonedDateTimeISO(zone).toPlainDate().toString();
    const groups = Map.groupBy(made, ({ at, kind }) => `${dayOf(at)} ${kind}`);
    const percentile = (all: number[], share: number): number => {
      const sorted = all.toSorted((a, b) => a - b);
      const place = (sorted.length - 1) * share;
      const [low, high] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
      return Math.round((low + (high - low) * (place - Math.floor(place))) * 1000);
    };
    const expected = Object.fromEntries(
      [...groups].map(([group, all]) => {
        const took = all.map((one) => one.took);
        const sum = took.reduce((total, one) => total + one, 0);
        const times = [
          percentile(took, 0.5),
          percentile(took, 0.9),
          Math.round((sum / took.length) * 1000),
          sum * 1000,
        ];
        return [group, [took.length, ...times]];
      }),
    );
    const measures = ['count', ...['p50', 'p90', 'avg', 'sum'].map((statistic) => `timeToDone.${statistic}`)];
    const period = { from: '2026-04-01', to: '2026-04-30' };
    const body = { groupBy: ['createdAt.day', 'kind'], measures, period };
    assert.deepEqual(await figures('chief', { ...body, timeZone: zone }), expected);
    const days = (await report('chief', { ...body, timeZone: zone })).rows.map(({ group }) => group[0]);
    assert.deepEqual(days, days.toSorted(), 'groups by time come in its order');

    const first = (bodyOf: string): string[] =>
      [...new Set(made.map(({ at }) => at).map(dayOf))].map((day) => {
        const date = Temporal.PlainDate.from(day);
        const start = bodyOf === 'week' ? date.subtract({ days: date.dayOfWeek - 1 }) : date.with({ day: 1 });
        return start.toString();
      });
    for (const by of ['week', 'month']) {
      const found = await figures('chief', { groupBy: [`createdAt.${by}`], period, timeZone: zone });
      assert.deepEqual(Object.keys(found), [...new Set(first(by))], by);
    }
    const inOneDay = await figures('chief', { period: { from: '2026-04-05', to: '2026-04-05' }, timeZone: zone });
    assert.equal(inOneDay[''], made.filter(({ at }) => dayOf(at) === '2026-04-05').length, 'a day of 25 hours');
    const own = await report('chief', { groupBy: ['createdAt.day'], period });
    assert.equal(own.timeZone, 'Asia/Vladivostok', 'the zone of the settings');
    await fixture.rows(`UPDATE users SET timezone = 'America/Lima' WHERE login = 'chief'`);
    assert.equal((await report('chief', {})).timeZone, 'America/Lima', "the caller's zone");
  });

  it('measures working time as the SLA engine does', async () => {
    const calendars = async (who: FixtureUser): Promise<Record<string, string>[]> =>
      (await fixture.app.request('GET', '/api/admin/v1/reports/calendars', { key: keys[who] })).body.data;
    const [office, ...others] = await calendars('viewer');
    assert.deepEqual([office?.['code'], office?.['name'], others], ['office', 'office', []]);
    assert.deepEqual(await calendars('stranger'), [], 'callers who may read no records have no reports');
    const time = new WorkTime({
      timezone: 'America/New_York',
      week: {
        mon: ['09:00-12:00', '13:00-18:00'],
        tue: ['09:00-18:00'],
        wed: [],
        thu: [],
        fri: [],
        sat: ['22:00-24:00'],
        sun: ['00:00-03:00'],
      },
      exceptions: [{ date: '2026-03-10', hours: [] }],
    });
    const measures = ['timeToDone.sum', 'timeToDone.p50', 'timeToFirstReply.sum', 'age.sum'];
    for (let turn = 0; turn < 12; turn++) {
      // Around the beginning of summer time in New York (2026-03-08) and a holiday.
      const from = Date.UTC(2026, 2, 7, 20) + turn * 23_456_789;
      const to = from + turn * turn * 7_654_321;
      const made = await fixture.make({ count: 900 + turn });
      const { id } = made;
      const text = (ms: number): string => new Date(ms).toISOString();
      await shift(id, { created_at: text(from), done_at: text(to), first_reply_at: text(to) });
      const expected = time.between(from, to);
      const only = { filter: { field: 'id', operator: 'equals', value: id }, calendar: 'office' };
      assert.deepEqual((await report('chief', { ...only, measures })).rows[0]?.values, [
        expected,
        expected,
        expected,
        null,
      ]);
      await fixture.rows('UPDATE report_facts SET done_at = NULL WHERE id = $1', [id]);
      const before = Date.now();
      const [age] =
        (await report('chief', { ...only, calendar: office?.['id'], measures: ['age.sum'] })).rows[0]?.values ?? [];
      assert.ok(
        Number(age) >= time.between(from, before) && Number(age) <= time.between(from, Date.now()),
        String(age),
      );
      await fixture.archive(made);
    }
    assert.deepEqual(await refused('chief', { calendar: 'nothing' }), ['/calendar UNKNOWN_CALENDAR']);
  });

  it('groups by states, creators and values of several values; filters with variables', async () => {
    const { id: problem } = await fixture.make({}, 'problem');
    const { id: other } = await fixture.make({}, 'problem');
    const chief = await fixture.person('chief');
    await fixture.make({ kind: 'b', causes: [problem, other], assignee: chief, note: 'marked' });
    await fixture.make({ kind: 'b', causes: [other], assignee: chief });
    const filter = { field: 'kind', operator: 'equals', value: 'b' };
    const byCause = await figures('chief', { groupBy: ['causes'], filter });
    assert.deepEqual([byCause[other], byCause[problem]], [2, 1]);
    assert.deepEqual(
      Object.keys(await figures('chief', { groupBy: ['typeCode'], types: ['case', 'problem'] })).sort(),
      ['case', 'problem'],
    );
    assert.equal((await figures('chief', { types: ['problem'], groupBy: ['createdBy'] }))[chief], 2);
    const byState = await figures('chief', { groupBy: ['workflowCategory', 'workflowState'] });
    assert.ok(Number(byState['open new']) > 0, JSON.stringify(byState));
    const open = { field: 'workflowCategory', operator: 'in', value: ['open', 'waiting'] };
    const all = await figures('chief', { filter: open });
    const joined = await figures('chief', { filter: open, groupBy: ['kind'] });
    assert.equal(
      Object.values(joined).reduce((sum: number, n) => sum + Number(n), 0),
      all[''],
    );
  });

  it('groups by days that begin where clocks change at midnight', async () => {
    // In Havana, 2026-11-01 00:00 to 01:00 happens twice; on 2026-03-08, 00:00 does not happen.
    const zone = 'America/Havana';
    const at = ['2026-11-01T04:30:00Z', '2026-11-01T05:30:00Z', '2026-11-01T03:30:00Z', '2026-03-08T05:00:00Z'];
    for (const created of at) {
      const { id } = await fixture.make({ kind: 'b', title: 'havana' });
      await shift(id, { created_at: created });
    }
    const day = (instant: string): string =>
      Temporal.Instant.from(instant).toZonedDateTimeISO(zone).toPlainDate().toString();
    for (const period of [
      { from: '2026-10-31', to: '2026-11-01' },
      { from: '2026-03-08', to: '2026-03-08' },
    ]) {
      const found = await figures('chief', { period, timeZone: zone, groupBy: ['createdAt.day'] });
      const expected: Record<string, number> = {};
      for (const one of at.map(day)) {
        if (one >= period.from && one <= period.to) expected[one] = (expected[one] ?? 0) + 1;
      }
      assert.deepEqual(found, expected);
    }
  });

  it('changes no figure by records and fields that the caller may not read', async () => {
    const asked = [
      { groupBy: ['kind'] },
      { measures: ['count', 'age.sum', 'timeToDone.sum', 'reopened', 'timeToFirstReply.p90', 'slaMet'] },
      { groupBy: ['createdAt.month', 'workflowState'] },
      { groupBy: ['doneAt.day'], measures: ['count', 'timeToDone.avg'] },
    ];
    const stable = (rows: Row[]): unknown => JSON.stringify(rows);
    const all = async (who: FixtureUser): Promise<unknown[]> =>
      await Promise.all(
        asked.map(async (body) => stable((await report(who, { ...body, period: { to: '2026-06-01' } })).rows)),
      );
    const seen = await fixture.make({ kind: 'a' });
    await shift(seen.id, { created_at: '2026-05-01T00:00:00Z', done_at: '2026-05-02T00:00:00Z' });
    const before = await all('viewer');
    const hidden = await fixture.make({ kind: 'b' });
    await shift(hidden.id, { created_at: '2026-05-01T00:00:00Z', done_at: '2026-05-09T00:00:00Z' });
    // The viewer reads `kind` alone, and no history: values of other fields and moments of being done change nothing.
    await fixture.rows(`UPDATE report_facts SET reopened = 5, done_at = '2026-05-03T00:00:00Z' WHERE id = $1`, [
      seen.id,
    ]);
    assert.deepEqual(await all('viewer'), before);
    const counts = await figures('viewer', { groupBy: ['kind'] });
    assert.deepEqual(Object.keys(counts), ['a'], 'records of other kinds are not readable');
    assert.deepEqual(
      (await report('viewer', { groupBy: ['doneAt.day'] })).rows.map(({ group }) => group),
      [[null]],
    );
  });

  it('refuses hidden types and fields like missing ones, with the place', async () => {
    assert.deepEqual(await refused('agent', { groupBy: ['kind', 'secret'] }), ['/groupBy/1 UNKNOWN_FIELD']);
    assert.deepEqual(await refused('agent', { groupBy: ['kind', 'nothing'] }), ['/groupBy/1 UNKNOWN_FIELD']);
    const filter = (field: string): unknown => ({ field, operator: 'equals', value: 'x' });
    const [hidden, missing] = await Promise.all(
      ['secret', 'nothing'].map((field) => refused('agent', { filter: filter(field) })),
    );
    assert.deepEqual(hidden, missing);
    assert.deepEqual(await refused('viewer', { types: ['problem'] }), ['/types/0 UNKNOWN_TYPE']);
    assert.deepEqual(await refused('viewer', { types: ['case', 'nothing'] }), ['/types/1 UNKNOWN_TYPE']);
    assert.deepEqual(await refused('stranger', {}), ['/types/0 UNKNOWN_TYPE']);
    assert.deepEqual(await refused('chief', { groupBy: ['body'] }), ['/groupBy/0 NOT_GROUPABLE']);
    assert.deepEqual(await refused('chief', { groupBy: ['createdAt.hour'] }), ['/groupBy/0 UNKNOWN_FIELD']);
    assert.deepEqual(await refused('chief', { timeZone: 'Mars/Phobos' }), ['/timeZone UNKNOWN_TIME_ZONE']);
    assert.deepEqual(await refused('chief', { timeZone: '+03:00' }), ['/timeZone UNKNOWN_TIME_ZONE']);
    assert.deepEqual(await refused('chief', { period: { from: '2026-02-30' } }), ['/period/from WRONG_FORMAT']);
    assert.deepEqual(await refused('chief', { period: { from: '2026-02-03', to: '2026-02-02' } }), [
      '/period/to INVALID_PERIOD',
    ]);
    assert.deepEqual(await refused('chief', { period: { lastDays: 3, to: '2026-02-02' } }), [
      '/period/lastDays NOT_ALLOWED',
    ]);
  });

  it('bounds the number of groups', async () => {
    await fixture.rows(`
      WITH made AS (
        INSERT INTO objects (id, type_id, type_version, title, revision, workflow_state_id, "values", folded, created_at, updated_at)
        SELECT gen_random_uuid(), o.type_id, o.type_version, 'many', 1, o.workflow_state_id, jsonb_build_object('count', n), '{}', now(), now()
        FROM generate_series(1, 1100) n, (SELECT o.* FROM objects o JOIN config_items i ON i.id = o.type_id WHERE i.code = 'case' LIMIT 1) o
        RETURNING *)
      INSERT INTO report_facts (id, type_id, state, workflow_state_id, created_at)
      SELECT id, type_id, state, workflow_state_id, created_at FROM made`);
    const { rows, truncated } = await report('chief', { groupBy: ['count'] });
    assert.deepEqual([rows.length, truncated], [1000, true]);
  });

  it('computes the same facts from the journal as the follower wrote', async () => {
    const { id } = await fixture.make({ kind: 'a' });
    await move('chief', id, 'take');
    await move('chief', id, 'finish', FINISH);
    await fixture.ok('agent', 'POST', `/objects/${id}/comments`, { body: 'Hello', visibility: 'public' });
    const reopened = await fixture.make({ kind: 'a' });
    await move('chief', reopened.id, 'take');
    await move('chief', reopened.id, 'finish', FINISH);
    await move('chief', reopened.id, 'reopen');
    const stored = (): Promise<unknown[]> =>
      fixture.rows('SELECT * FROM report_facts WHERE id = ANY($1::uuid[]) ORDER BY id', [[id, reopened.id]]);
    const before = await stored();
    await fixture.rows('DELETE FROM report_facts WHERE id = ANY($1::uuid[])', [[id, reopened.id]]);
    const { work, system } = fixture.app.app;
    await work.write(system(), async (ctx) => startFactsRebuild(ctx));
    assert.equal((await report('chief', {})).complete, false);
    const [job] = reportJobs(fixture.app.db, work, async () => system());
    while (await job?.run());
    assert.deepEqual(await stored(), before);
    assert.equal((await report('chief', {})).complete, true);
  });
});

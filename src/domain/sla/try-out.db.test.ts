/** Trying out stored and unsaved policies and calendars, also at clock changes (docs/spec/configuration.md). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HOUR, MINUTE, type SlaFixture, startSlaFixture } from '../../../test/support/sla-fixture.ts';

const NOW = '2026-11-23T08:00:00.000Z';

describe('try-out', () => {
  let world: SlaFixture;

  before(async () => {
    world = await startSlaFixture(NOW);
  });
  after(() => world.close());

  const attempt = (body: unknown) => world.call('chief', 'POST', '/api/admin/v1/sla/try-out', body);
  const due = async (body: unknown): Promise<any> => {
    const answer = await attempt(body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.data;
  };
  const preview = (body: unknown) => world.ok('chief', 'POST', '/api/admin/v1/calendars/preview', body);
  const problems = async (body: unknown, path = '/api/admin/v1/sla/try-out'): Promise<unknown> => {
    const answer = await world.call('chief', 'POST', path, body);
    assert.deepEqual([answer.status, answer.body.error?.code], [400, 'INVALID_REQUEST'], JSON.stringify(answer.body));
    return answer.body.error.details.map((detail: { path: string; code: string }) => [detail.path, detail.code]);
  };

  it('returns the times of an instance started at that moment', async () => {
    const id = await world.make({ priority: 'p1' });
    const instance = await world.sla(id);
    const tried = await due({ openedAt: NOW, policy: 'resolution', values: { priority: 'p1' } });
    assert.deepEqual([tried.dueAt, tried.targetMs], [instance.dueAt, instance.targetMs]);
    assert.deepEqual(tried.warnings, [
      { percent: 50, at: '2026-11-23T10:00:00.000Z' },
      { percent: 90, at: '2026-11-23T11:36:00.000Z' },
    ]);
    assert.deepEqual(tried.calendar, { id: world.id('office'), version: 1, timezone: 'Europe/Berlin' });
    // Without values, the defaults of the type apply.
    const usual = await due({ openedAt: NOW, policy: world.id('resolution') });
    assert.equal(usual.targetMs, 16 * HOUR);
    const counted = usual.intervals.filter((one: { counted: boolean }) => one.counted);
    assert.equal(
      counted.reduce((sum: number, one: { ms: number }) => sum + one.ms, 0),
      usual.targetMs,
    );
    assert.equal(usual.intervals.at(-1).to, usual.dueAt);
  });

  it('accepts another calendar, target or pauses', async () => {
    const paused = await due({
      openedAt: '2026-11-23T09:00:00+01:00',
      policy: 'resolution',
      target: 'PT2H',
      pauses: [{ from: '2026-11-23T09:00:00.000Z', to: '2026-11-23T10:30:00.000Z' }],
    });
    assert.deepEqual([paused.openedAt, paused.dueAt], [NOW, '2026-11-23T11:30:00.000Z']);
    assert.deepEqual(paused.intervals[1], {
      from: '2026-11-23T09:00:00.000Z',
      to: '2026-11-23T10:30:00.000Z',
      ms: 90 * MINUTE,
      counted: false,
      reason: 'paused',
    });
    const always = await due({ openedAt: NOW, policy: 'resolution', calendar: 'always' });
    assert.equal(always.dueAt, '2026-11-24T00:00:00.000Z');
    const never = await due({ openedAt: NOW, calendar: 'never', target: 'PT1S' });
    assert.deepEqual([never.dueAt, never.intervals], [null, []]);
  });

  for (const [name, timezone, hours, openedAt, target, at] of [
    [
      'Berlin in spring',
      'Europe/Berlin',
      '00:00-06:00',
      '2026-03-28T23:00:00.000Z',
      'PT6H',
      '2026-03-29T23:00:00.000Z',
    ],
    [
      'New York in spring',
      'America/New_York',
      '09:00-17:00',
      '2026-03-07T22:00:00.000Z',
      'PT2H',
      '2026-03-08T15:00:00.000Z',
    ],
    [
      'Lord Howe in spring',
      'Australia/Lord_Howe',
      '01:00-03:00',
      '2026-10-03T14:00:00.000Z',
      'PT2H',
      '2026-10-04T14:30:00.000Z',
    ],
    [
      'Apia without a day',
      'Pacific/Apia',
      '09:00-17:00',
      '2011-12-30T02:00:00.000Z',
      'PT2H',
      '2011-12-30T20:00:00.000Z',
    ],
  ] as const) {
    it(`calculates ${name} with an unsaved calendar`, async () => {
      const week = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [hours]]));
      const tried = await due({ openedAt, target, calendar: { timezone, week } });
      assert.equal(tried.dueAt, at);
      assert.deepEqual(tried.calendar, { id: null, version: null, timezone });
    });
  }

  it('reports each problem with its path', async () => {
    assert.deepEqual(await problems({ openedAt: NOW }), [['', 'REQUIRED']]);
    assert.deepEqual(await problems({ openedAt: NOW, policy: 'none' }), [['/policy', 'UNKNOWN_POLICY']]);
    assert.deepEqual(await problems({ openedAt: NOW, calendar: 'none', target: 'PT1H' }), [
      ['/calendar', 'UNKNOWN_CALENDAR'],
    ]);
    assert.deepEqual(await problems({ openedAt: NOW, calendar: 'office', calendarVersion: 7, target: 'PT1H' }), [
      ['/calendarVersion', 'UNKNOWN_CALENDAR'],
    ]);
    for (const target of ['P1D', 'PT0S', '-PT1H', 'soon'])
      assert.deepEqual(await problems({ openedAt: NOW, calendar: 'office', target }), [['/target', 'WRONG_FORMAT']]);
    assert.deepEqual(await problems({ openedAt: NOW, policy: 'resolution', values: { priority: 'p9', nope: 1 } }), [
      ['/values/priority', 'NOT_AN_OPTION'],
      ['/values/nope', 'UNKNOWN_FIELD'],
    ]);
    const pauses = [
      { from: NOW, to: '2026-11-23T10:00:00.000Z' },
      { from: '2026-11-23T09:00:00.000Z', to: '2026-11-23T11:00:00.000Z' },
    ];
    assert.deepEqual(await problems({ openedAt: NOW, policy: 'resolution', pauses }), [['/pauses/1', 'OVERLAP']]);
    const calendar = {
      timezone: 'Mars/Olympus',
      week: { mon: ['10:00-09:00'] },
      exceptions: [{ date: '2026-02-30', hours: [] }],
    };
    assert.deepEqual(await problems({ openedAt: NOW, target: 'PT1H', calendar }), [
      ['/calendar/timezone', 'UNKNOWN_TIME_ZONE'],
      ['/calendar/week/mon/0', 'EMPTY_RANGE'],
      ['/calendar/exceptions/0/date', 'WRONG_FORMAT'],
    ]);
    assert.deepEqual(
      await problems({ calendar: 'office', from: '2026-02-30', days: 1 }, '/api/admin/v1/calendars/preview'),
      [['/from', 'WRONG_FORMAT']],
    );
  });

  it('previews days with exceptions and clock changes', async () => {
    const { timezone, days } = await preview({ calendar: 'office', from: '2026-12-24', days: 3 });
    assert.equal(timezone, 'Europe/Berlin');
    assert.deepEqual(days, [
      {
        date: '2026-12-24',
        weekday: 'thu',
        exists: true,
        ms: 24 * HOUR,
        openMs: 3 * HOUR,
        open: [{ from: '2026-12-24T08:00:00.000Z', to: '2026-12-24T11:00:00.000Z' }],
        exception: true,
        name: 'Christmas Eve',
      },
      {
        date: '2026-12-25',
        weekday: 'fri',
        exists: true,
        ms: 24 * HOUR,
        openMs: 0,
        open: [],
        exception: true,
        name: 'Christmas Day',
      },
      { date: '2026-12-26', weekday: 'sat', exists: true, ms: 24 * HOUR, openMs: 0, open: [], exception: false },
    ]);
    const spring = await preview({ calendar: 'office', from: '2026-03-29', days: 1 });
    assert.equal(spring.days[0].ms, 23 * HOUR);
    const calendar = { timezone: 'Pacific/Apia', week: { fri: ['09:00-17:00'], sat: ['09:00-17:00'] } };
    const skipped = await preview({ calendar, from: '2011-12-29', days: 3 });
    assert.deepEqual(
      skipped.days.map((day: { date: string; exists: boolean; openMs: number }) => [day.date, day.exists, day.openMs]),
      [
        ['2011-12-29', true, 0],
        ['2011-12-30', false, 0],
        ['2011-12-31', true, 8 * HOUR],
      ],
    );
  });

  it('requires config.manage', async () => {
    const answer = await world.call('agent', 'POST', '/api/admin/v1/sla/try-out', {
      openedAt: NOW,
      policy: 'resolution',
    });
    assert.ok(answer.status === 401 || answer.status === 403, String(answer.status));
  });
});

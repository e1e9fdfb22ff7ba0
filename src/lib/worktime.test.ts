/** Tests working time against fixed values, an oracle that checks every minute, and algebraic properties. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type CalendarHours, WEEKDAYS, type Weekday, WorkTime } from './worktime.ts';
import { cases, Oracle, ZONES } from '../../test/support/worktime-oracle.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const WORKDAYS = WEEKDAYS.slice(0, 5);

function hours(timezone: string, range: string, days: readonly Weekday[] = WORKDAYS): CalendarHours {
  const week = Object.fromEntries(WEEKDAYS.map((day) => [day, days.includes(day) ? [range] : []]));
  return { timezone, week: week as Record<Weekday, string[]>, exceptions: [] };
}

function iso(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

interface Vector {
  name: string;
  calendar: CalendarHours;
  start: string;
  minutes: number;
  due: string;
}

const vector = (name: string, calendar: CalendarHours, start: string, minutes: number, due: string): Vector => {
  return { name, calendar, start, minutes, due };
};

const VECTORS: readonly Vector[] = [
  vector(
    'New York loses an hour over the weekend',
    hours('America/New_York', '09:00-17:00'),
    '2026-03-06T21:00:00Z',
    120,
    '2026-03-09T14:00:00Z',
  ),
  vector(
    'New York gains an hour over the weekend',
    hours('America/New_York', '09:00-17:00'),
    '2026-10-30T20:00:00Z',
    120,
    '2026-11-02T15:00:00Z',
  ),
  vector(
    'a night of five hours in Berlin',
    hours('Europe/Berlin', '00:00-06:00', WEEKDAYS),
    '2026-03-28T23:00:00Z',
    360,
    '2026-03-29T23:00:00Z',
  ),
  vector(
    'a night of seven hours in Berlin',
    hours('Europe/Berlin', '00:00-06:00', WEEKDAYS),
    '2026-10-24T22:00:00Z',
    360,
    '2026-10-25T04:00:00Z',
  ),
  vector(
    'a midnight that Cairo does not have',
    hours('Africa/Cairo', '00:00-08:00', WEEKDAYS),
    '2026-04-23T20:00:00Z',
    480,
    '2026-04-24T22:00:00Z',
  ),
  vector(
    'half an hour on Lord Howe',
    hours('Australia/Lord_Howe', '09:00-17:00'),
    '2026-10-02T05:30:00Z',
    120,
    '2026-10-04T23:00:00Z',
  ),
  vector(
    'a weekend in Moscow',
    hours('Europe/Moscow', '09:00-18:00'),
    '2026-06-19T14:00:00Z',
    120,
    '2026-06-22T07:00:00Z',
  ),
  vector(
    'an offset of three quarters in Kathmandu',
    hours('Asia/Kathmandu', '10:00-17:00'),
    '2026-06-19T10:45:00Z',
    60,
    '2026-06-22T04:45:00Z',
  ),
  vector(
    'the day that Apia skipped',
    hours('Pacific/Apia', '09:00-17:00', WEEKDAYS),
    '2011-12-30T02:00:00Z',
    120,
    '2011-12-30T20:00:00Z',
  ),
  vector(
    'due at closing, not at the next opening',
    hours('UTC', '09:00-17:00'),
    '2026-06-19T09:00:00Z',
    480,
    '2026-06-19T17:00:00Z',
  ),
  vector('started outside of hours', hours('UTC', '09:00-17:00'), '2026-06-20T09:00:00Z', 1, '2026-06-22T09:01:00Z'),
  vector(
    'a shop open through the hour that Berlin skips',
    hours('Europe/Berlin', '02:30-06:00', WEEKDAYS),
    '2026-03-28T23:00:00Z',
    60,
    '2026-03-29T02:00:00Z',
  ),
  vector(
    'a shop that opens in the hour that Berlin repeats',
    hours('Europe/Berlin', '02:30-06:00', WEEKDAYS),
    '2026-10-24T22:00:00Z',
    60,
    '2026-10-25T02:00:00Z',
  ),
  vector(
    'the repeated half hour of Lord Howe counts twice',
    hours('Australia/Lord_Howe', '01:30-02:00', WEEKDAYS),
    '2026-04-04T12:00:00Z',
    60,
    '2026-04-04T15:30:00Z',
  ),
];

describe('working time', () => {
  for (const { name, calendar, start, minutes, due } of VECTORS) {
    it(`is correct for ${name}`, () => {
      const time = new WorkTime(calendar);
      assert.equal(iso(time.add(Date.parse(start), minutes * MINUTE)), iso(Date.parse(due)));
      assert.equal(time.between(Date.parse(start), Date.parse(due)), minutes * MINUTE);
    });
  }

  it('agrees with a minute-by-minute calculation in 2,000 calendars of 12 zones', () => {
    assert.equal(new Set(ZONES.map(([zone]) => zone)).size, 12);
    const offsets = new Map(ZONES.map(([zone]) => [zone, new Map<number, number>()]));
    let found = 0;
    fc.assert(
      fc.property(cases, ({ calendar, start, ms, pauses }) => {
        const time = new WorkTime(calendar);
        const expected = new Oracle(calendar, offsets.get(calendar.timezone) as Map<number, number>).add(
          start,
          ms,
          pauses,
        );
        const due = time.add(start, ms, pauses);
        if (expected === undefined) assert.ok(due === undefined || due >= start + 12 * DAY);
        else assert.equal(iso(due), iso(expected));
        if (expected !== undefined) found++;
      }),
      { numRuns: 2000 },
    );
    assert.ok(found > 1000, `only ${found} of the calendars were open long enough`);
  });

  it('add() is the inverse of between(), and returns the earliest instant', () => {
    fc.assert(
      fc.property(cases, ({ calendar, start, ms, pauses }) => {
        const time = new WorkTime(calendar);
        const due = time.add(start, ms, pauses);
        if (due === undefined) return;
        assert.equal(time.between(start, due, pauses), ms);
        assert.equal(time.between(start, due - 1, pauses), ms - 1);
      }),
      { numRuns: 1000 },
    );
  });

  it('is additive over adjacent spans, and pauses remove exactly their working time', () => {
    fc.assert(
      fc.property(cases, fc.integer({ min: 0, max: 9 * DAY }), ({ calendar, start, ms, pauses }, cut) => {
        const time = new WorkTime(calendar);
        const end = start + 9 * DAY;
        const whole = time.between(start, end, pauses);
        assert.equal(time.between(start, start + cut, pauses) + time.between(start + cut, end, pauses), whole);
        const within = pauses.map((pause) => ({ from: Math.min(pause.from, end), to: Math.min(pause.to, end) }));
        const paused = within.reduce((sum, pause) => sum + time.between(pause.from, pause.to), 0);
        assert.equal(whole + paused, time.between(start, end));
        assert.ok(ms > 0);
      }),
      { numRuns: 500 },
    );
  });

  it('splits a span without gaps, and the open pieces add up to the working time', () => {
    fc.assert(
      fc.property(cases, ({ calendar, start, pauses }) => {
        const time = new WorkTime(calendar);
        const end = start + 9 * DAY;
        const pieces = time.pieces(start, end, pauses);
        let at = start;
        for (const [index, piece] of pieces.entries()) {
          assert.equal(piece.from, at);
          assert.ok(piece.to > piece.from);
          const { from: _, to: __, ...kind } = piece;
          const { from: ___, to: ____, ...before } = pieces[index - 1] ?? { from: 0, to: 0 };
          assert.notDeepEqual(kind, before, 'pieces of one kind are one');
          at = piece.to;
        }
        assert.equal(at, end);
        const open = pieces.filter((piece) => piece.kind === 'open').reduce((sum, { from, to }) => sum + to - from, 0);
        assert.equal(open, time.between(start, end, pauses));
        const paused = pieces.filter((piece) => piece.kind === 'paused');
        assert.deepEqual(
          paused.map(({ from, to, pause }) => [from, to, pause]),
          pauses.map(({ from, to }, index) => [from, Math.min(to, end), index]).filter(([from]) => (from ?? 0) < end),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('returns the calendar exception of a day', () => {
    const calendar = {
      ...hours('Europe/Moscow', '09:00-18:00'),
      exceptions: [
        { date: '2026-06-12', hours: [] },
        { date: '2026-06-13', hours: ['10:00-12:00'] },
      ],
    };
    const at = (text: string): number => Date.parse(`2026-06-${text}:00+03:00`);
    assert.deepEqual(new WorkTime(calendar).pieces(at('11T17:00'), at('13T11:00')), [
      { from: at('11T17:00'), to: at('11T18:00'), kind: 'open' },
      { from: at('11T18:00'), to: at('12T00:00'), kind: 'closed' },
      { from: at('12T00:00'), to: at('13T00:00'), kind: 'closed', exception: 0 },
      { from: at('13T00:00'), to: at('13T10:00'), kind: 'closed', exception: 1 },
      { from: at('13T10:00'), to: at('13T11:00'), kind: 'open', exception: 1 },
    ]);
  });

  it('detects that there is no due time', () => {
    const never = new WorkTime(hours('Europe/Berlin', '09:00-17:00', []));
    assert.equal(never.add(0, 1), undefined);
    assert.equal(never.between(0, 50 * 365 * DAY), 0);
    const once = new WorkTime({
      ...hours('UTC', '09:00-17:00', []),
      exceptions: [{ date: '2030-01-01', hours: ['00:00-24:00'] }],
    });
    assert.equal(iso(once.add(0, DAY)), '2030-01-02T00:00:00.000Z');
    assert.equal(once.add(0, DAY + 1), undefined);
    assert.equal(never.add(12_345, 0), 12_345);
    assert.equal(never.between(10, 5), 0);
  });

  it('returns the local day', () => {
    const apia = new WorkTime(hours('Pacific/Apia', '09:00-17:00'));
    assert.deepEqual(apia.local(Date.parse('2011-12-30T09:59:59Z')), { offset: -10 * HOUR, date: '2011-12-29' });
    assert.deepEqual(apia.local(Date.parse('2011-12-30T10:00:00Z')), { offset: 14 * HOUR, date: '2011-12-31' });
  });
});

/** Compares the transitions of an instance with a simulation that counts minute by minute. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { WEEKDAYS, type Weekday, WorkTime } from '../../lib/worktime.ts';
import type { CalendarInForce, Policy } from './registry.ts';
import { timingOf, type Instance, type ConditionResults, notBefore, pauseSpans } from './rules.ts';
import {
  begin,
  type Draft,
  draftOf,
  finish,
  follow,
  pause,
  rearm,
  resume,
  retarget,
  type Setting,
  restarts,
  stop,
} from './rules-transitions.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-11-20T09:30:00.000Z'); // a Friday
const WARN = [30, 80] as const;

const policy: Policy = {
  id: 'policy',
  version: 1,
  code: 'policy',
  name: 'Policy',
  active: true,
  typeId: 'type',
  calendarId: 'calendar',
  targets: [],
  start: null,
  pause: null,
  stop: null,
  warnAt: WARN,
  inputs: { every: true, fields: new Set() },
};

const week = Object.fromEntries(
  WEEKDAYS.map((day, index) => [day, index < 5 ? ['09:00-12:00', '13:00-17:00'] : []]),
) as Record<Weekday, string[]>;
const definition = { code: 'calendar', name: 'Calendar', timezone: 'UTC', week, exceptions: [] };
const calendar: CalendarInForce = { id: 'calendar', version: 1, definition, time: new WorkTime(definition) };

function isOpen(minute: number): boolean {
  const at = new Date(minute * MINUTE);
  const day = at.getUTCDay();
  const hour = at.getUTCHours();
  return day >= 1 && day <= 5 && ((hour >= 9 && hour < 12) || (hour >= 13 && hour < 17));
}

/** An event on a record or its instance, after some minutes. */
type SimulatedEvent = { after: number } & (
  | { kind: 'waits' | 'works' | 'done' | 'archive' | 'restore' | 'pause' | 'resume' | 'stop' | 'tick' }
  | { kind: 'target'; hours: number }
);

const simulatedEvent: fc.Arbitrary<SimulatedEvent> = fc
  .record({
    after: fc.integer({ min: 0, max: 900 }),
    kind: fc.constantFrom('waits', 'works', 'done', 'archive', 'restore', 'pause', 'resume', 'stop', 'tick', 'target'),
    hours: fc.integer({ min: 1, max: 30 }),
  })
  .map((one) => one as SimulatedEvent);

/** The simulation: a record, the conditions that are set aside, and a counter of minutes, written as in the specification. */
class World {
  now = START;
  targetMs = 16 * HOUR;
  state: 'works' | 'waits' | 'done' = 'works';
  archived = false;
  instance: Instance;
  status = 'ACTIVE';
  counted = 0;
  /** What holds the pause. */
  by: 'policy' | 'manual' | 'archive' | undefined;
  /** After a resume or stop by command, the condition has no effect until it was false once. */
  setAside = false;
  restartAllowed = true;
  notified: string[] = [];
  readonly seen: string[] = [];

  constructor() {
    this.instance = this.#keep(begin('one', 'record', this.results(), this.setting()));
  }

  setting(): Setting {
    const { targetMs } = this;
    return { now: new Date(this.now).toISOString(), actorId: null, policy, calendar, targetMs };
  }

  results(): ConditionResults {
    return {
      start: this.state !== 'done',
      pause: this.state === 'waits',
      stop: this.state === 'done',
      archived: this.archived,
    };
  }

  #keep(draft: Draft): Instance {
    const { instance, events } = finish(draft, this.setting());
    for (const { type, data } of events) this.seen.push(`${type}${data['percent'] ?? ''}`);
    return instance;
  }

  pass(minutes: number): void {
    for (let minute = this.now / MINUTE; minute < this.now / MINUTE + minutes; minute++)
      if (this.status === 'ACTIVE' && isOpen(minute)) this.counted++;
    this.now += minutes * MINUTE;
  }

  /** Warnings and breaches that must be reported by now, once the service has checked. */
  #updateNotified(): void {
    for (const [name, share] of [
      ['SlaWarning30', 0.3],
      ['SlaWarning80', 0.8],
      ['SlaBreached', 1],
    ] as const) {
      const is = this.counted * MINUTE >= share * this.targetMs;
      if (is && !this.notified.includes(name)) this.notified.push(name);
      else if (!is) this.notified = this.notified.filter((one) => one !== name);
    }
  }

  apply(one: SimulatedEvent): void {
    this.pass(one.after);
    if (one.kind === 'pause' || one.kind === 'resume' || one.kind === 'stop') this.#command(one.kind);
    else if (one.kind === 'tick') this.#tick();
    else this.#change(one);
  }

  #tick(): void {
    if (this.status === 'STOPPED') return;
    const draft = draftOf(this.instance);
    retarget(draft, this.setting(), true);
    this.instance = this.#keep(draft);
    this.#updateNotified();
  }

  #command(kind: 'pause' | 'resume' | 'stop'): void {
    const fits = { pause: this.status === 'ACTIVE', resume: this.status === 'PAUSED', stop: this.status !== 'STOPPED' };
    if (!fits[kind] || this.archived) return;
    const draft = draftOf(this.instance);
    const setting = this.setting();
    const results = this.results();
    retarget(draft, setting);
    this.#updateNotified();
    if (kind === 'pause') {
      pause(draft, 'manual', setting);
      [this.status, this.by] = ['PAUSED', 'manual'];
    } else if (kind === 'resume') {
      resume(draft, 'manual', setting, !results.pause);
      [this.status, this.by] = ['ACTIVE', undefined];
      this.setAside = results.pause;
    } else {
      stop(draft, 'manual', setting, !results.start);
      this.status = 'STOPPED';
      this.restartAllowed = !results.start;
    }
    this.instance = this.#keep(draft);
  }

  #change(one: SimulatedEvent): void {
    if (one.kind === 'archive' || one.kind === 'restore') {
      if (this.archived === (one.kind === 'archive')) return;
      this.archived = one.kind === 'archive';
    } else if (this.archived) return;
    else if (one.kind === 'target') this.targetMs = one.hours * HOUR;
    else this.state = one.kind as World['state'];
    const results = this.results();
    const setting = this.setting();
    const wasStopped = this.status === 'STOPPED';
    this.#expect(results, wasStopped);
    const restarted = restarts(this.instance, results, policy);
    const draft = restarted ? begin('next', 'record', results, setting) : draftOf(this.instance);
    if (!restarted && wasStopped) rearm(draft, results);
    else if (!restarted) follow(draft, results, setting);
    this.instance = this.#keep(draft);
  }

  /** The rules of docs/spec/workflow-and-sla.md#sla-instances, one by one. */
  #expect(results: ConditionResults, wasStopped: boolean): void {
    if (wasStopped) {
      if (!results.start) this.restartAllowed = true;
      else if (this.restartAllowed && !results.archived) {
        [this.status, this.by] = results.pause ? ['PAUSED', 'policy'] : ['ACTIVE', undefined];
        [this.counted, this.setAside, this.notified] = [0, false, []];
      }
      return;
    }
    this.#updateNotified();
    if (results.stop) {
      this.status = 'STOPPED';
      this.restartAllowed = true;
      return;
    }
    if (!results.pause) this.setAside = false;
    if (this.by === 'policy' && !results.pause) [this.status, this.by] = ['ACTIVE', undefined];
    if (this.by === 'archive' && !results.archived) [this.status, this.by] = ['ACTIVE', undefined];
    if (this.status !== 'ACTIVE') return;
    if (results.pause && !this.setAside) [this.status, this.by] = ['PAUSED', 'policy'];
    else if (results.archived) [this.status, this.by] = ['PAUSED', 'archive'];
  }
}

describe('transitions of an instance', () => {
  it('match the specification for any sequence of events', () => {
    fc.assert(
      fc.property(fc.array(simulatedEvent, { minLength: 1, maxLength: 25 }), (events) => {
        const world = new World();
        for (const one of events) {
          world.apply(one);
          const { instance } = world;
          const now = new Date(world.now).toISOString();
          const timing = timingOf(instance, instance.targetMs, calendar.time, now);
          assert.equal(instance.status, world.status);
          assert.equal(timing.elapsedMs, world.counted * MINUTE);
          assert.deepEqual(
            [...instance.notifiedThresholds]
              .map((what) => (what === 'breach' ? 'SlaBreached' : `SlaWarning${what}`))
              .sort(),
            [...world.notified].sort(),
          );
          // Counted and paused time add up to all open time.
          const end = Date.parse(instance.stoppedAt ?? now);
          const start = Date.parse(instance.startedAt);
          const paused = pauseSpans(instance.pauses, end).map(({ from, to }) =>
            calendar.time.between(from, Math.min(to, end)),
          );
          assert.equal(timing.elapsedMs + paused.reduce((sum, ms) => sum + ms, 0), calendar.time.between(start, end));
          if (timing.dueAt !== null && instance.status === 'ACTIVE') {
            const { elapsedMs } = timingOf(instance, instance.targetMs, calendar.time, timing.dueAt);
            if (!timing.breached) assert.equal(elapsedMs, instance.targetMs);
          }
        }
      }),
      { numRuns: 1500 },
    );
  });

  it('nextAt is the next threshold that was not reported, and never in the past', () => {
    fc.assert(
      fc.property(fc.array(simulatedEvent, { minLength: 1, maxLength: 15 }), (events) => {
        const world = new World();
        for (const one of events) world.apply(one);
        // From here on only time passes, and the service wakes at `nextAt`.
        world.apply({ after: 0, kind: 'tick' });
        for (let wakes = 0; world.instance.nextAt !== null; wakes++) {
          assert.ok(wakes < 4 && world.instance.status === 'ACTIVE');
          const at = Date.parse(world.instance.nextAt);
          assert.ok(at > world.now, 'later than now');
          const before = world.seen.length;
          world.pass(Math.floor((at - world.now) / MINUTE));
          world.now = at;
          const draft = draftOf(world.instance);
          retarget(draft, world.setting(), true);
          const done = finish(draft, world.setting());
          assert.ok(done.events.length > 0, 'reports something at that time');
          world.instance = done.instance;
          assert.equal(world.seen.length, before);
        }
        if (world.instance.status === 'ACTIVE')
          assert.deepEqual(world.instance.notifiedThresholds, [...WARN, 'breach']);
      }),
      { numRuns: 500 },
    );
  });

  it('never go back in time when the clock is set back', () => {
    const world = new World();
    world.pass(120);
    world.apply({ after: 0, kind: 'pause' });
    world.now -= 60 * MINUTE;
    world.apply({ after: 0, kind: 'resume' });
    assert.deepEqual(world.instance.pauses, []);
    assert.equal(world.instance.elapsedMs, null);
    world.now = START - HOUR;
    world.apply({ after: 0, kind: 'stop' });
    assert.deepEqual([world.instance.stoppedAt, world.instance.elapsedMs], [new Date(START).toISOString(), 0]);
    assert.equal(
      notBefore('2026-01-01T00:00:00.000Z', null, undefined, '2026-02-01T00:00:00.000Z'),
      '2026-02-01T00:00:00.000Z',
    );
  });
});

/**
 * SLA timers survive faults: services on one database are killed around the due times of warnings and breaches, and for a while
 * none runs. Every notification is sent once, late if no service was running.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ruleTasks } from '../src/domain/rules/jobs.ts';
import { slaTasks } from '../src/domain/sla/jobs.ts';
import type { Service as Parts } from '../src/platform/module.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { freePort, type Service, startService } from './proofs/fault-service.ts';
import { bundle, stored, user } from './support/small-configuration.ts';

const TARGET_MS = 2000;
const WARN_PERCENT = 40;
/** Time limit for notifications while some service runs (docs/spec/workflow-and-sla.md#sla-instances). */
const IN_TIME_MS = 5000;
const HANGS_MS = 60_000;
const KILLS = 4;

const WORLD = `
types: [{ code: thing, name: Thing, fields: [{ code: note, dataType: string }] }]
calendars: [{ code: always, timezone: Europe/Berlin, week: { ${['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => `${day}: ['00:00-24:00']`).join(', ')} } }]
slaPolicies:
  - code: quick
    type: thing
    calendar: always
    targets: [{ duration: PT${TARGET_MS / 1000}S }]
    start: { field: note, operator: is-empty, value: true }
    stop: { field: note, operator: is-empty, value: false }
    warnAt: [${WARN_PERCENT}]
roles:
  - { code: maker, records: [{ type: thing, actions: [create, read], fields: { read: '*', write: '*' } }], assignedTo: { users: [maker] } }
users:
${user('maker')}`;

interface NotificationCount {
  id: string;
  warnings: number;
  breaches: number;
  /** Delay between the due time and the breach notification. */
  lag: number;
  started: number;
  /** Places of the notifications in the journal. */
  warned: number;
  breached: number;
}

/** Those that were sent after another one that was due `IN_TIME_MS` later. */
function overtaken(all: readonly NotificationCount[], place: 'warned' | 'breached'): string[] {
  const late: string[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  const descending = all.toSorted((a, b) => b.started - a.started);
  let at = 0;
  for (const one of descending) {
    for (; (descending[at]?.started ?? 0) >= one.started + IN_TIME_MS; at++)
      earliest = Math.min(earliest, descending[at]?.[place] ?? earliest);
    if (one[place] > earliest) late.push(one.id);
  }
  return late;
}

describe('SLA timers under process kills', () => {
  let app: TestApp;
  let folder: string;
  let key: string;
  const running = new Set<Service>();

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    folder = await mkdtemp(path.join(tmpdir(), 'docket-timers-'));
    key = (await app.createKey({ login: 'maker' })).key;
  });
  after(async () => {
    for (const service of running) await service.kill();
    await app.close();
    await rm(folder, { recursive: true, force: true });
  });

  const serve = async (): Promise<Service> => {
    const service = await startService({
      DATABASE_URL: app.databaseUrl,
      DOCKET_DATA_DIR: folder,
      DOCKET_PORT: String(await freePort()),
      DOCKET_STARTER: 'none',
    });
    running.add(service);
    return service;
  };
  const kill = async (service: Service): Promise<void> => {
    running.delete(service);
    await service.kill();
  };
  const make = async (isEnough: (made: number) => boolean): Promise<void> => {
    for (let made = 0; !isEnough(made); made++) {
      const body = { typeDefinitionId: 'thing', values: {} };
      assert.equal((await app.request('POST', '/api/v1/objects', { key, body })).status, 201);
      await sleep(30);
    }
  };
  const notifications = (): Promise<NotificationCount[]> =>
    stored<NotificationCount>(
      app,
      `SELECT i.id, count(*) FILTER (WHERE j.type = 'SlaWarning')::int AS warnings,
         count(*) FILTER (WHERE j.type = 'SlaBreached')::int AS breaches,
         extract(epoch FROM max(j.at) FILTER (WHERE j.type = 'SlaBreached') - i.started_at)::float8 * 1000 - ${TARGET_MS} AS lag,
         extract(epoch FROM i.started_at)::float8 * 1000 AS started,
         max(j.seq) FILTER (WHERE j.type = 'SlaWarning')::int AS warned,
         max(j.seq) FILTER (WHERE j.type = 'SlaBreached')::int AS breached
       FROM sla_instances i JOIN journal j ON j.object_id = i.object_id GROUP BY i.id, i.started_at`,
    );
  // The events themselves contain whether they were in time.
  const settled = async (): Promise<NotificationCount[]> => {
    const until = Date.now() + HANGS_MS;
    for (;;) {
      const all = await notifications();
      if (all.every((one) => one.breaches > 0) || Date.now() > until) return all;
      await sleep(100);
    }
  };

  it('send every notification once, whichever process is killed and when', async () => {
    let [first, second] = await Promise.all([serve(), serve()]);
    let going = true;
    const making = make(() => !going);
    for (let round = 0; round < KILLS; round++) {
      // At a different moment among the due times in each round.
      await sleep(300 + round * 170);
      const victim = round % 2 === 0 ? first : second;
      await kill(victim);
      const next = await serve();
      if (round % 2 === 0) first = next;
      else second = next;
    }
    // Others must be due so much later than those that were due at the last kill.
    await sleep(TARGET_MS + IN_TIME_MS);
    going = false;
    await making;
    const all = await settled();
    assert.ok(all.length >= 60);
    for (const one of all) {
      assert.deepEqual([one.warnings, one.breaches], [1, 1]);
      assert.ok(one.lag >= 0, `sent ${-one.lag} ms before its due time`);
    }
    // A busy machine delays all notifications. One that alone is late waited for a killed process.
    assert.deepEqual([...overtaken(all, 'warned'), ...overtaken(all, 'breached')], []);
    await Promise.all([kill(first), kill(second)]);
  });

  it('are looked at every second', () => {
    // Nothing runs: the tasks keep what they are given.
    const parts = {} as Parts;
    const all = new Map([...slaTasks(parts), ...ruleTasks(parts)].map(({ name, everyMs }) => [name, everyMs]));
    for (const name of ['sla-timers', 'rule-timers']) assert.equal(all.get(name), 1000, name);
  });

  it('send notifications late if no process was running', async () => {
    const known = new Set((await notifications()).map((one) => one.id));
    await make((made) => made === 20);
    await sleep(TARGET_MS + 200);
    const before = await notifications();
    assert.ok(before.filter((one) => !known.has(one.id)).every((one) => one.warnings + one.breaches === 0));
    const service = await serve();
    const all = await settled();
    const late = all.filter((one) => !known.has(one.id));
    assert.equal(late.length, 20);
    for (const one of late) assert.deepEqual([one.warnings, one.breaches], [1, 1]);
    assert.equal(await service.stop(), 0);
    running.delete(service);
  });
});

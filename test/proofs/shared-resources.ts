/**
 * `npm run test:shared-resources [-- --changes 1200 --comments 500 --many 20000]`: one caller reads records with a long life, many
 * times at once. Meanwhile another caller asks for a list of five rows again and again. Reports how long the list took, the memory
 * of the service, the longest turn of its event loop and the answers. Callers, service and database share the machine.
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Target } from './fuzz/target.ts';
import { globalSetup, globalTeardown } from '../support/global-setup.ts';
import { changeOften, commentOften } from '../support/long-records.ts';
import { longRun } from './long-run.ts';
import { startRecordFixture } from '../support/record-fixture.ts';

const LENGTH = 95_000;
const MANY_LENGTH = 10_000;
const AT_ONCE = 48;
const PAUSE_MS = 100;
const MAX = { listMs: 1500, grownMb: 300, stallMs: 100 };

const run = longRun({ changes: 1200, comments: 500, many: 20_000 });
const problems: string[] = [];
await globalSetup();
const fixture = await startRecordFixture();
const target = new Target(fixture.app, { stallThresholdMs: 15 });
try {
  await target.ready();
  const changes = run.number('changes');
  const long = (await fixture.make()).id;
  await changeOften(fixture.app, long, { field: 'note', count: changes, length: LENGTH });
  const talk = (await fixture.make()).id;
  await commentOften(fixture.app, talk, run.number('comments'), LENGTH + 4000);
  const many = (await fixture.make()).id;
  await changeOften(fixture.app, many, { field: 'note', count: run.number('many'), length: MANY_LENGTH });
  await fixture.rows('ANALYZE');
  run.say('the records are made');

  const call = async (who: 'chief' | 'agent', method: string, path: string, body?: unknown): Promise<number> => {
    const answer = await fetch(target.url + path, {
      method,
      headers: { authorization: `Bearer ${fixture.keys[who]}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for await (const _part of answer.body ?? []);
    return answer.status;
  };
  const timed = async <T>(work: () => Promise<T>): Promise<[ms: number, result: T]> => {
    const start = performance.now();
    const result = await work();
    return [Math.round(performance.now() - start), result];
  };

  /** Runs the work while another caller reads a short list and nobody asks for the health. */
  const beside = async (name: string, work: () => Promise<number[]>): Promise<void> => {
    const before = (await target.memory()).rss;
    await target.lastStall();
    let isDone = false;
    let list = 0;
    let health = 0;
    let rss = before;
    const others = [
      (async () => {
        for (; !isDone; await sleep(PAUSE_MS))
          list = Math.max(list, (await timed(() => call('chief', 'GET', '/api/v1/objects?pageSize=5')))[0]);
      })(),
      (async () => {
        for (; !isDone; await sleep(PAUSE_MS))
          health = Math.max(health, (await timed(() => call('chief', 'GET', '/healthz')))[0]);
      })(),
      (async () => {
        for (; !isDone; await sleep(PAUSE_MS)) rss = Math.max(rss, (await target.memory()).rss);
      })(),
    ];
    const [ms, statuses] = await timed(work);
    isDone = true;
    await Promise.all(others);
    const stall = await target.lastStall();
    const counts = Object.entries(Object.groupBy(statuses, String)).map(
      ([status, all]) => `${all?.length} × ${status}`,
    );
    const load = (loadavg()[0] ?? 0).toFixed(1);
    run.say(
      `${name}: ${counts.join(', ')} in ${ms} ms; list of another ${list} ms, health ${health} ms, memory ${before} to ${rss} MB, longest turn ${Math.round(stall)} ms, load ${load}`,
    );
    if (list > MAX.listMs) problems.push(`${name}: the list of another caller took ${list} ms`);
    if (rss - before > MAX.grownMb) problems.push(`${name}: the memory grew from ${before} to ${rss} MB`);
    if (stall > MAX.stallMs) problems.push(`${name}: the event loop was blocked for ${Math.round(stall)} ms`);
  };
  const atOnce =
    (count: number, path: string, method = 'GET', body?: unknown) =>
    async (): Promise<number[]> =>
      await Promise.all(Array.from({ length: count }, () => call('agent', method, path, body)));

  const stale = { expectedRevision: 1, changes: { note: 'mine' } };
  const at = `/api/v1/objects/${long}`;
  await beside('nothing', async () => (await sleep(2000), []));
  for (const count of [1, AT_ONCE]) {
    await beside(`${count} × revision`, atOnce(count, `${at}?revision=${changes / 2}`));
    await beside(`${count} × diff`, atOnce(count, `${at}/diff?from=10&to=${changes - 10}`));
    await beside(`${count} × stale PATCH`, atOnce(count, at, 'PATCH', stale));
    await beside(`${count} × history`, atOnce(count, `${at}/history`));
  }
  await beside('8 × comments', atOnce(8, `/api/v1/objects/${talk}/comments`));
  for (const count of [1, AT_ONCE]) {
    const path = `/api/v1/objects/${many}`;
    await beside(`${count} × late revision of many`, atOnce(count, `${path}?revision=${run.number('many')}`));
    await beside(`${count} × diff of many`, atOnce(count, `${path}/diff?from=10&to=${run.number('many')}`));
    await beside(`${count} × stale PATCH of many`, atOnce(count, path, 'PATCH', stale));
  }
} finally {
  await target.end();
  await fixture.app.close();
  await globalTeardown();
}
run.end(problems);

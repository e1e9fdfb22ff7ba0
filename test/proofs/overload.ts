/**
 * `npm run test:overload [-- --seconds 10 --seed N]`: overloads one process of the service, most of the load from one key,
 * besides nine others; then clients connect that are slow, idle or do not read their responses. Sender, service and database
 * share the machine, so throughput is lower than that of the service alone.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { longRun, type LongRun } from './long-run.ts';
import { FaultEnvironment } from './fault-environment.ts';
import { type Kind, quantile, OpenLoopSender, type TimedRequest, type RequestBatch } from './open-loop-sender.ts';

const REFUSED_MS = 100;
const GOODPUT_KEPT = 0.8;
const RECOVERED_MS = 10_000;
const CLOSED_MS = 30_000;
const RATE = 600;

const KINDS: readonly Kind[] = [
  {
    method: 'POST',
    path: '/api/v1/objects',
    body: { typeDefinitionId: 'thing', values: { title: 'made under overload', tag: 'load' } },
    weight: 4,
  },
  { method: 'GET', path: '/api/v1/objects?pageSize=50', weight: 3 },
  // Finds nothing, so its cost does not depend on the number of records.
  { method: 'GET', path: '/api/v1/search?q=absent', weight: 3 },
];

/** Milliseconds of processor time that the service has used. */
function processorMs(environment: FaultEnvironment): number {
  const stat = readFileSync(`/proc/${environment.service(0).pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const good = (volley: RequestBatch): TimedRequest[] => volley.shots.filter(({ status }) => status < 300);
const refused = (volley: RequestBatch): TimedRequest[] => volley.shots.filter(({ status }) => status >= 300);

/** Open loop at multiples of what one process does in a closed loop. */
async function collapse(environment: FaultEnvironment, run: LongRun, problems: string[]): Promise<number> {
  const ms = run.number('seconds') * 1000;
  const sender = new OpenLoopSender(environment.urls()[0] as string, environment.key, KINDS);
  await sender.keep(24, 3000);
  let before = processorMs(environment);
  const all = good(await sender.keep(24, ms)).length;
  const capacity = all / (ms / 1000);
  const each = (processorMs(environment) - before) / all;
  run.say(
    `capacity, 24 under way: ${Math.round(capacity)} a second, ${each.toFixed(2)} ms of the service's processor time each`,
  );
  let peak = 0;
  let last = 0;
  for (const times of [1, 2, 4, 8]) {
    before = processorMs(environment);
    const volley = await sender.fire(capacity * times, ms);
    const used = processorMs(environment) - before;
    const [done, not] = [good(volley), refused(volley)];
    const goodput = done.filter(({ at, ms: took }) => at + took < ms).length / (ms / 1000);
    peak = Math.max(peak, goodput);
    last = goodput;
    run.say(
      `${times} times: ${Math.round(goodput)} a second done (p50 ${quantile(done, 0.5)}, p99 ${quantile(done, 0.99)} ms), ` +
        `${not.length} refused (p50 ${quantile(not, 0.5)}, p99 ${quantile(not, 0.99)}, slowest ${quantile(not, 1)} ms), ` +
        `${volley.unsent} not sent, ${volley.broken} without an answer, ${volley.turnedAway} not let in; ` +
        `the service used ${Math.round(used)} ms of processor time, ${((used - done.length * each) / Math.max(1, not.length)).toFixed(2)} a refusal`,
    );
    problems.push(...shapes(volley, `${times} times`));
    if (quantile(not, 0.99) > REFUSED_MS) problems.push(`${times} times: p99 of refusals ${quantile(not, 0.99)} ms`);
  }
  const kept = last / peak;
  run.say(`at 8 times ${Math.round(kept * 100)} % of the peak is done`);
  if (kept < GOODPUT_KEPT) problems.push(`at 8 times only ${Math.round(kept * 100)} % of the peak is done`);
  const after = await sender.fire(capacity * 0.5, RECOVERED_MS);
  const lastBad = Math.max(0, ...refused(after).map(({ at }) => at));
  run.say(`at half of the capacity the last refusal came ${Math.round(lastBad)} ms after the end`);
  if (lastBad > RECOVERED_MS * 0.9 || good(after).length < after.shots.length * 0.5)
    problems.push('it did not recover within 10 s');
  sender.close();
  return capacity;
}

function shapes(volley: RequestBatch, when: string): string[] {
  const bad = refused(volley).filter(({ status, retryAfter }) => (status !== 503 && status !== 429) || !retryAfter);
  const broken = volley.broken > 0 ? [`${when}: ${volley.broken} connections in use ended without an answer`] : [];
  if (bad.length === 0) return broken;
  return [
    ...broken,
    `${when}: ${bad.length} refusals are no 503 or 429 with Retry-After, as ${JSON.stringify(bad[0])}`,
  ];
}

/** Nine keys ask for little, each; one for five times what there is. */
async function fairness(
  environment: FaultEnvironment,
  run: LongRun,
  capacity: number,
  limited: boolean,
  problems: string[],
): Promise<void> {
  const ms = run.number('seconds') * 1000;
  const url = environment.urls()[0] as string;
  const keys: string[] = [];
  for (let one = 0; one < 10; one++) keys.push(await environment.newKey('alice'));
  const [flood, ...others] = keys.map((key) => new OpenLoopSender(url, key, KINDS, 600)) as [
    OpenLoopSender,
    ...OpenLoopSender[],
  ];
  const rate = limited ? Math.min((RATE / 60) * 0.5, capacity * 0.03) : capacity * 0.03;
  const ask = async (): Promise<RequestBatch> => {
    const volleys = await Promise.all(others.map((sender) => sender.fire(rate, ms)));
    return {
      shots: volleys.flatMap(({ shots }) => shots),
      unsent: volleys.reduce((sum, { unsent }) => sum + unsent, 0),
      broken: volleys.reduce((sum, { broken }) => sum + broken, 0),
      turnedAway: volleys.reduce((sum, { turnedAway }) => sum + turnedAway, 0),
    };
  };
  const alone = await ask();
  const [flooded, beside] = await Promise.all([flood.fire(capacity * 5, ms), ask()]);
  for (const sender of [flood, ...others]) sender.close();
  const share = refused(beside).length / Math.max(1, beside.shots.length);
  const [before, during] = [quantile(good(alone), 0.99), quantile(good(beside), 0.99)];
  run.say(
    `rate limits ${limited ? 'on' : 'off'}: beside a flood (${good(flooded).length} done, ${refused(flooded).length} refused) nine ` +
      `others had ${good(beside).length} done, ${refused(beside).length} refused; p99 ${before} → ${during} ms`,
  );
  problems.push(...shapes(flooded, 'flood'), ...shapes(beside, 'beside a flood'));
  if (share >= 0.01) problems.push(`beside a flood ${(share * 100).toFixed(1)} % of the others' requests were refused`);
}

/** Clients with stalled connections. All must be closed in time. */
async function slow(environment: FaultEnvironment, run: LongRun, problems: string[]): Promise<void> {
  const { hostname, port } = new URL(environment.urls()[0] as string);
  const head = `POST /api/v1/objects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${environment.key}\r\nContent-Type: application/json\r\n`;
  const ways: Readonly<Record<string, { first: string; drip?: string; reads: boolean }>> = {
    'says nothing': { first: '', reads: true },
    'a byte of its headers a second': {
      first: 'GET /api/v1/objects HTTP/1.1\r\nHost: x\r\nX-Slow: ',
      drip: 'x',
      reads: true,
    },
    'a byte of its body a second': { first: `${head}Content-Length: 1000\r\n\r\n{`, drip: ' ', reads: true },
    'stops within its body': { first: `${head}Content-Length: 1000\r\n\r\n{`, reads: true },
    'never reads': { first: 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(60), reads: false },
  };
  const each = Object.entries(ways).flatMap(([name, way]) => Array.from({ length: 20 }, () => ({ name, way })));
  const took = new Map<string, number>();
  await Promise.all(
    each.map(async ({ name, way }) => {
      const socket = connect(Number(port), hostname);
      const began = performance.now();
      const closed = new Promise<void>((resolve) => {
        socket.on('close', () => resolve());
      });
      socket.on('error', () => {});
      if (way.reads) socket.resume();
      socket.write(way.first);
      const { drip } = way;
      const timer = setInterval(() => {
        if (drip !== undefined) socket.write(drip);
      }, 1000);
      // A client that does not read sees no close: it checks at the due time and must not have received everything.
      if (!way.reads) {
        await sleep(CLOSED_MS);
        socket.resume();
      }
      await Promise.race([closed, sleep(CLOSED_MS + 10_000)]);
      clearInterval(timer);
      socket.destroy();
      took.set(name, Math.max(took.get(name) ?? 0, performance.now() - began));
    }),
  );
  for (const [name, ms] of took) {
    run.say(`20 clients, each of which ${name}: the last closed after ${(ms / 1000).toFixed(1)} s`);
    if (ms > CLOSED_MS + 2000) problems.push(`who ${name} was closed after ${Math.round(ms)} ms`);
  }
}

const run = longRun({ seconds: 10, all: 1 });
const problems: string[] = [];
let capacity = 0;
// `--all 0`: only the first part.
for (const limited of run.number('all') === 1 ? [false, true] : [false]) {
  const environment = await FaultEnvironment.start({
    processes: 1,
    settings: limited ? { DOCKET_RATE_LIMIT: String(RATE) } : { DOCKET_RATE_LIMIT: 'off' },
  });
  try {
    if (!limited) capacity = await collapse(environment, run, problems);
    if (run.number('all') === 1) await fairness(environment, run, capacity, limited, problems);
    if (!limited && run.number('all') === 1) await slow(environment, run, problems);
    if (!environment.alive()) problems.push(`the process ended by itself: ${environment.said()}`);
    problems.push(...environment.defects());
  } finally {
    await environment.close();
  }
}
run.end(problems);

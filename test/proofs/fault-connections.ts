/** Breaks or stalls connections between service and database under a mixed write load. */
import { setTimeout as sleep } from 'node:timers/promises';
import { newJournal } from './fault-journal.ts';
import { type Outcome, runUnderLoad } from './fault-injection.ts';
import { FaultProxy, type FaultMode } from './fault-proxy.ts';
import { FaultEnvironment } from './fault-environment.ts';
import { attempt } from './fault-client.ts';

/** The limit of an ordinary request (docs/spec/conventions.md#health), and what a busy machine may add. */
const READ = '/api/v1/objects?pageSize=5';
const DEADLINE_MS = 30_000;
const GRACE_MS = 3000;
/** Without an answer of the database, its connection is given up after this. */
const RECOVERED_MS = 40_000;

export interface ConnectionFaults {
  stage: FaultEnvironment;
  proxy: FaultProxy;
  close(): Promise<void>;
}

/** The second process connects through the proxy; the first keeps the database running. */
export async function startConnectionFaults(): Promise<ConnectionFaults> {
  let proxy: FaultProxy | undefined;
  const environment = await FaultEnvironment.start({
    through: async ({ host, port, user, password }) => {
      proxy = await FaultProxy.start({ host, port });
      return `postgres://${user}:${password}@127.0.0.1:${proxy.port}/docket`;
    },
  });
  if (proxy === undefined) throw new Error('the proxy was not requested');
  const through = proxy;
  return {
    stage: environment,
    proxy: through,
    close: async () => {
      through.weather = 'fair';
      await environment.close();
      await through.close();
    },
  };
}

/**
 * Cuts `count` or more connections one at a time between the commit and its confirmation, until as many requests got
 * DATABASE_UNAVAILABLE. A cut may also affect background work, an item of a bulk call or a whole group of requests.
 */
export async function cutResponses(on: ConnectionFaults, count: number, seed: number, name = 'cut'): Promise<Outcome> {
  const { stage: environment, proxy } = on;
  const journal = newJournal();
  return await runUnderLoad({
    stage: environment,
    name,
    seed,
    urls: environment.urls().slice(1),
    beside: { journal, prefix: `${name}-` },
    faults: async (next) => {
      const until = performance.now() + 60_000 + count * 500;
      const said = (): number => journal.codes.get('DATABASE_UNAVAILABLE') ?? 0;
      const before = proxy.cut;
      while (said() < count || proxy.cut - before < count) {
        if (performance.now() > until)
          throw new Error(`${proxy.cut} connections cut, ${said()} requests failed because of it`);
        await sleep(next() * 40);
        proxy.cutting = 1;
      }
      proxy.cutting = 0;
    },
  });
}

export interface Stood extends Outcome {
  /** Milliseconds of the slowest answer meanwhile. */
  slowest: number;
  /** Milliseconds from fair weather until an answer came. */
  recovered: number;
}

/** Bad weather for a while. Reads are sent all the time, each of which must be answered within its deadline. */
export async function stallConnections(
  on: ConnectionFaults,
  weather: FaultMode,
  ms: number,
  seed: number,
): Promise<Stood> {
  const { stage: environment, proxy } = on;
  const url = environment.urls()[1] as string;
  let slowest = 0;
  let recovered = 0;
  const late: string[] = [];
  const outcome = await runUnderLoad({
    stage: environment,
    name: `w-${weather}`,
    seed,
    clients: 4,
    urls: [url],
    tryMs: DEADLINE_MS + GRACE_MS,
    backMs: RECOVERED_MS,
    faults: async () => {
      proxy.weather = weather;
      const until = performance.now() + ms;
      const asked: Promise<void>[] = [];
      while (performance.now() < until) {
        const began = performance.now();
        const ask = async (): Promise<void> => {
          const answer = await attempt(url, environment.key, 'GET', READ, undefined, {}, DEADLINE_MS + GRACE_MS);
          const took = performance.now() - began;
          slowest = Math.max(slowest, took);
          if (answer === undefined) late.push(`a read had no answer after ${Math.round(took)} ms`);
        };
        asked.push(ask());
        await sleep(250);
      }
      proxy.weather = 'fair';
      const fair = performance.now();
      for (;;) {
        const answer = await attempt(url, environment.key, 'GET', READ);
        recovered = performance.now() - fair;
        if (answer?.status === 200) break;
        if (recovered > RECOVERED_MS) throw new Error(`no answer ${Math.round(recovered)} ms after ${weather}`);
        await sleep(100);
      }
      await Promise.all(asked);
    },
  });
  const idle = await environment.rows<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND now() - state_change > interval '15 s'`,
  );
  const problems = [...late, ...idle.map(({ pid }) => `process ${pid} is idle in a transaction`), ...outcome.problems];
  return { ...outcome, problems, slowest: Math.round(slowest), recovered: Math.round(recovered) };
}

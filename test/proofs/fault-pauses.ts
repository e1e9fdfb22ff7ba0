/** Suspends processes (SIGSTOP) and stops them under load. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultEnvironment } from './fault-environment.ts';
import { attempt } from './fault-client.ts';
import { OpenLoopSender } from './open-loop-sender.ts';

/** The limit of an ordinary request, and what a busy machine may add. */
const DEADLINE_MS = 33_000;
/** Time that a stopping process has to finish running requests. */
const DRAIN_MS = 25_000;

const READS = [{ method: 'GET', path: '/api/v1/objects?pageSize=5', weight: 1 }];

/** Stops processes for `ms`. They are always resumed, also after an error. */
async function still(pids: readonly number[], ms: number, meanwhile: () => Promise<void>): Promise<void> {
  const signal = (name: NodeJS.Signals): void => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // It ended meanwhile.
      }
    }
  };
  signal('SIGSTOP');
  try {
    await Promise.all([sleep(ms), meanwhile()]);
  } finally {
    signal('SIGCONT');
  }
}

/** Suspends the process; its requests must be served afterwards. @returns problems */
export async function pauseService(environment: FaultEnvironment, turn: number, ms: number): Promise<string[]> {
  const url = environment.urls()[turn] as string;
  let asked: Promise<(unknown | undefined)[]> = Promise.resolve([]);
  await still([environment.service(turn).pid], ms, async () => {
    asked = Promise.all(
      Array.from({ length: 8 }, () =>
        attempt(url, environment.key, 'GET', '/api/v1/objects?pageSize=5', undefined, {}, DEADLINE_MS + ms),
      ),
    );
  });
  const unanswered = (await asked).filter((answer) => answer === undefined).length;
  await environment.untilAnswered(turn);
  return unanswered === 0 ? [] : [`${unanswered} of 8 requests of a stopped process had no answer`];
}

/** Suspends the whole database; every request must get a response in time, if necessary an error. @returns problems */
export async function pauseDatabase(environment: FaultEnvironment, ms: number): Promise<string[]> {
  const problems: string[] = [];
  const ask = async (url: string): Promise<void> => {
    const began = performance.now();
    const answer = await attempt(url, environment.key, 'GET', '/api/v1/objects?pageSize=5', undefined, {}, DEADLINE_MS);
    const took = Math.round(performance.now() - began);
    if (answer === undefined) problems.push(`no answer after ${took} ms while the database was stopped`);
    else if (answer.status !== 200 && answer.status !== 503)
      problems.push(`${answer.status} while the database was stopped`);
    else if (answer.status === 503 && answer.headers.get('retry-after') === null)
      problems.push('503 without Retry-After');
  };
  const asked: Promise<void>[] = [];
  await still(environment.serverPids(), ms, async () => {
    for (let at = 0; at < ms; at += 250) {
      for (const url of environment.urls()) asked.push(ask(url));
      await sleep(250);
    }
  });
  await Promise.all(asked);
  for (let turn = 0; turn < environment.processes; turn++) await environment.untilAnswered(turn);
  return problems;
}

/** Stops the process while 16 requests are always running, and restarts it. @returns problems */
export async function stopUnderLoad(environment: FaultEnvironment, turn: number): Promise<string[]> {
  const sender = new OpenLoopSender(environment.urls()[turn] as string, environment.key, READS);
  let over = false;
  const load = sender.keep(16, DRAIN_MS + 5000, () => over);
  // On a busy machine the first response may take long.
  for (let waited = 0; waited < 10_000 && sender.answered < 16; waited += 50) await sleep(50);
  const began = performance.now();
  const code = await environment.service(turn).stop();
  const took = Math.round(performance.now() - began);
  over = true;
  const { shots, broken } = await load;
  sender.close();
  await environment.begin(turn);
  await environment.untilAnswered(turn);
  const bad = shots.filter(({ status }) => status !== 200 && status !== 503).length;
  return [
    ...(code === 0 ? [] : [`a process that received SIGTERM ended with ${code}`]),
    ...(took <= DRAIN_MS ? [] : [`a process that received SIGTERM took ${took} ms`]),
    ...(broken === 0
      ? []
      : [`${broken} requests over connections in use had no answer when the process received SIGTERM`]),
    ...(bad === 0 ? [] : [`${bad} answers were neither 200 nor 503`]),
    ...(shots.length > 0 ? [] : ['there was no load']),
  ];
}

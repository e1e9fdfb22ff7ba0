/**
 * `npm run test:group-deadlocks [-- --seconds 3600 --writers 64 --records 20]`: two services on one database change the same few
 * records in groups and by bulk calls, in every order. Nothing may end in a deadlock, and no request may hang.
 */
import { startTestApp, type TestApp } from '../support/app.ts';
import { longRun } from './long-run.ts';
import { ACTIONS, bundle, stored, user } from '../support/small-configuration.ts';

const WORLD = `
types:
  - code: thing
    name: Thing
    title: title
    fields: [{ code: title, dataType: string, required: true }]
roles:
  - code: keeper
    records: [{ type: thing, actions: [${ACTIONS}], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [alice] }
users:
${user('alice')}`;

/** A request that so many others overtake waits for something that does not end. On any machine, a lock timeout is over before. */
const OVERTAKEN = 20_000;

const run = longRun({ seconds: 3600, writers: 64, records: 20 });
const one = await startTestApp({ bundle: bundle(WORLD) });
const two = await startTestApp({ on: one });
const problems: string[] = [];
let ended = 0;
let longest = 0;
try {
  const { key } = await one.createKey({ login: 'alice' });
  await two.app.versions.refresh();
  const send = async (app: TestApp, method: string, path: string, body?: unknown) => {
    const began = performance.now();
    const before = ended;
    const answer = await app.request(method, `/api/v1${path}`, { key, body });
    longest = Math.max(longest, performance.now() - began);
    if (ended++ - before > OVERTAKEN) problems.push(`${method} ${path} was overtaken by ${ended - before} requests`);
    if (answer.status >= 500 && answer.status !== 503)
      problems.push(`${method} ${path} was answered with ${answer.status}`);
    return answer;
  };
  const ids: string[] = [];
  for (let made = 0; made < run.number('records'); made++) {
    const body = { typeDefinitionId: 'thing', values: { title: `record ${made}` } };
    ids.push((await send(one, 'POST', '/objects', body)).body.data.id);
  }
  const any = (): string => ids[Math.floor(Math.random() * ids.length)] as string;
  const counts: Record<string, number> = {};
  const revisionOf = async (app: TestApp, id: string): Promise<number> =>
    (await send(app, 'GET', `/objects/${id}`)).body.data?.revision ?? 1;
  const step = async (app: TestApp): Promise<void> => {
    const changes = { title: `title ${Math.random()}` };
    const chance = Math.random();
    const [first, second] = [any(), any()];
    if (chance < 0.5) {
      const expectedRevision = await revisionOf(app, first);
      await send(app, 'PATCH', `/objects/${first}`, { expectedRevision, changes });
    } else if (chance < 0.8) {
      await send(app, 'POST', `/objects/${first}/comments`, { body: 'text' });
    } else if (first !== second) {
      const items = await Promise.all(
        [first, second].map(async (objectId) => ({
          objectId,
          expectedRevision: await revisionOf(app, objectId),
          changes,
        })),
      );
      await send(app, 'POST', '/bulk', { operation: 'update', items });
    }
    const kind = chance < 0.5 ? 'updates' : chance < 0.8 ? 'comments' : 'bulk changes';
    counts[kind] = (counts[kind] ?? 0) + 1;
  };
  const until = performance.now() + run.number('seconds') * 1000;
  const told = setInterval(() => run.say(JSON.stringify(counts)), 60_000);
  await Promise.all(
    Array.from({ length: run.number('writers') }, async (_, writer) => {
      while (performance.now() < until) await step(writer % 2 === 0 ? one : two);
    }),
  );
  clearInterval(told);
  run.say(`${JSON.stringify(counts)}; the longest request took ${Math.round(longest)} ms`);
  const [row] = await stored<{ deadlocks: number }>(
    one,
    'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
  );
  run.say(`${row?.deadlocks} deadlocks`);
  if (row?.deadlocks !== 0) problems.push('PostgreSQL found deadlocks');
} finally {
  await two.close();
  await one.close();
}
run.end(problems);

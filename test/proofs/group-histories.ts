/**
 * `npm run test:group-histories [-- --records 10000 --writers 64 --rounds 200]`: the property test of group commit on many records.
 * Histories, revisions, answers and events must be exact.
 */
import { startTestApp } from '../support/app.ts';
import { assertHistories, writeAtRandom } from './group-writers.ts';
import { longRun } from './long-run.ts';
import { ACTIONS, bundle, user } from '../support/small-configuration.ts';

const WORLD = `
types:
  - code: thing
    name: Thing
    title: title
    workflow: flow
    fields: [{ code: title, dataType: string, required: true }, { code: note, dataType: text }]
workflows:
  - code: flow
    name: Flow
    initial: new
    states: [{ code: new, name: New, category: open }, { code: done, name: Done, category: done }]
    transitions: [{ code: finish, name: Finish, from: [new], to: done }, { code: reopen, name: Reopen, from: [done], to: new }]
roles:
  - code: keeper
    records: [{ type: thing, actions: [${ACTIONS}], transitions: '*', fields: { read: '*', write: '*' } }]
    assignedTo: { users: [alice] }
users:
${user('alice')}`;

const run = longRun({ records: 10_000, writers: 64, rounds: 200 });
const app = await startTestApp({ bundle: bundle(WORLD) });
const problems: string[] = [];
try {
  const { key } = await app.createKey({ login: 'alice' });
  const writers = run.number('writers');
  const targets: string[] = [];
  const create = async (): Promise<void> => {
    const body = { typeDefinitionId: 'thing', values: { title: 'made' } };
    const answer = await app.request('POST', '/api/v1/objects', { key, body });
    targets.push(answer.body.data.id);
  };
  while (targets.length < run.number('records')) await Promise.all(Array.from({ length: writers }, create));
  run.say(`${targets.length} records`);
  const done = await writeAtRandom({ app, key, targets, writers, rounds: run.number('rounds') });
  await assertHistories(app, done);
  const { units, statements, refused } = app.app.work.counts;
  run.say(`${units} units in ${statements} statements, ${refused} groups refused`);
} catch (error) {
  problems.push((error as Error).message);
} finally {
  await app.close();
}
run.end(problems);

/**
 * Acknowledged is durable and whole (reliability, ID2, ID3, CR1, CR2): two processes of the real service on an embedded database on
 * disk, of which one or the other is killed, or cut off, while clients do every kind of write; then every answer is held against
 * what is stored, and every invariant is asked. At length: `npm run test:kills`, `npm run test:cuts`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type CutStage, cutAnswers, startCutStage } from './harness/fault-cuts.ts';
import { kill, told } from './harness/fault-load.ts';

const SEED = Number(process.env['DOCKET_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));
const CUTS = 5;

describe('crash', () => {
  let on: CutStage;
  before(async () => {
    on = await startCutStage();
  });
  after(() => on?.close());

  it('keeps what it acknowledged through kills of the service, of connections and of the database', async (t) => {
    t.diagnostic(`DOCKET_TEST_SEED=${SEED}`);
    const outcome = await kill(on.stage, { service: 5, backend: 3, database: 2 }, SEED, () => {});
    t.diagnostic(told(outcome));
    assert.deepEqual(outcome.problems, []);
    assert.ok((outcome.journal.acknowledged.get('create') ?? 0) >= 16, 'there was a load');
  });

  it('does a keyed write once when the connection goes between commit and answer', async (t) => {
    const outcome = await cutAnswers(on, CUTS, SEED);
    t.diagnostic(told(outcome));
    assert.deepEqual(outcome.problems, []);
    assert.equal(on.proxy.cut, CUTS);
    assert.ok(outcome.journal.refused >= CUTS, 'nobody was told that it had succeeded');
  });

  it('stops when it is asked to, and takes its database with it', async () => {
    const { stage } = on;
    const pid = stage.serverPid();
    assert.equal(await stage.service(1).stop(), 0, stage.said());
    assert.equal(await stage.service(0).stop(), 0, stage.said());
    assert.throws(() => process.kill(pid, 0), 'the database server is gone');
    await stage.begin(0);
    await stage.untilAnswered(0);
  });
});

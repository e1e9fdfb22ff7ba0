/**
 * Acknowledged writes are durable and complete. Two processes of the real service on an embedded database on disk are killed or
 * cut off while clients do every kind of write; then all responses are compared with the stored data, and all invariants are
 * checked. Long versions: `npm run test:kills`, `npm run test:connection-loss`, `npm run test:pauses`.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { GROUP_SIZE } from '../src/platform/unit-of-work/groups.ts';
import { type ConnectionFaults, cutResponses, startConnectionFaults } from './proofs/fault-connections.ts';
import { kill, killInGroups, summaryOf, runUnderLoad } from './proofs/fault-injection.ts';
import { pauseDatabase, pauseService, stopUnderLoad } from './proofs/fault-pauses.ts';
import { attempt } from './proofs/fault-client.ts';

const SEED = Number(process.env['DOCKET_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));
const CUTS = 3;
const STILL_MS = 1500;

/** A server that outlived its service has ended, too, if its new parent has not asked for its exit code yet. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('crash recovery', () => {
  let on: ConnectionFaults;
  before(async () => {
    on = await startConnectionFaults();
  });
  after(() => on?.close());

  it('keeps acknowledged changes through kills of the service, connections and the database', async (t) => {
    t.diagnostic(`DOCKET_TEST_SEED=${SEED}`);
    const outcome = await kill(on.stage, { service: 2, backend: 1, database: 1 }, SEED, () => {});
    t.diagnostic(summaryOf(outcome));
    assert.deepEqual(outcome.problems, []);
    assert.ok((outcome.journal.acknowledged.get('create') ?? 0) >= 16, 'there was a load');
  });

  it('keeps each unit of a group whole if the service or the database is killed while it writes the group', async (t) => {
    const outcome = await killInGroups(on.stage, { service: 1, backend: 1 }, SEED);
    t.diagnostic(`${summaryOf(outcome)}; largest group: ${outcome.largest}`);
    assert.deepEqual(outcome.problems, []);
    assert.equal(outcome.largest, GROUP_SIZE);
  });

  it('executes a write with an Idempotency-Key once if the connection breaks between commit and response', async (t) => {
    const outcome = await cutResponses(on, CUTS, SEED);
    t.diagnostic(summaryOf(outcome));
    assert.deepEqual(outcome.problems, []);
    assert.ok(
      (outcome.journal.codes.get('DATABASE_UNAVAILABLE') ?? 0) >= CUTS,
      'requests were cut between commit and answer',
    );
    assert.ok(on.proxy.cut >= CUTS, 'by the proxy, and by nothing else');
  });

  it('continues after a process or the database was suspended, and after a stop under load', async () => {
    const { stage: environment } = on;
    const wrong: string[] = [];
    const outcome = await runUnderLoad({
      stage: environment,
      name: 'still',
      seed: SEED,
      clients: 6,
      faults: async () => {
        wrong.push(...(await pauseService(environment, 1, STILL_MS)));
        wrong.push(...(await pauseDatabase(environment, STILL_MS)));
        wrong.push(...(await stopUnderLoad(environment, 1)));
      },
    });
    assert.deepEqual([...wrong, ...outcome.problems], []);
  });

  it('accepts one writer per revision and one effect per key over two processes', async () => {
    const { stage: environment } = on;
    const urls = environment.urls();
    const send = async (turn: number, method: string, path: string, body: unknown, key?: string) => {
      const headers = key === undefined ? {} : { 'idempotency-key': key };
      // Who is refused because the machine is busy asks again: nothing was done for them.
      for (;;) {
        const answer = await attempt(urls[turn % 2] as string, environment.key, method, path, body, headers);
        if (answer?.status !== 503) return answer;
        await sleep(100);
      }
    };
    for (let round = 0; round < 3; round++) {
      const tag = `one-of-many-${round}`;
      const made = await Promise.all(
        Array.from({ length: 16 }, (_, turn) =>
          send(turn, 'POST', '/api/v1/objects', { typeDefinitionId: 'thing', values: { title: tag, tag } }, tag),
        ),
      );
      const ids = new Set(made.flatMap((answer) => (answer?.status === 201 ? [String(answer.body.data?.['id'])] : [])));
      assert.equal(ids.size, 1, 'all get the answer of the first');
      for (const answer of made) {
        if (answer?.status !== 201) assert.equal(answer?.body.error?.code, 'IDEMPOTENCY_IN_PROGRESS');
      }
      const stored = await environment.rows(`SELECT id FROM objects WHERE "values" ->> 'tag' = $1`, [tag]);
      assert.equal(stored.length, 1);
      const changed = await Promise.all(
        Array.from({ length: 16 }, (_, turn) =>
          send(turn, 'PATCH', `/api/v1/objects/${[...ids][0]}`, {
            expectedRevision: 1,
            changes: { title: `t${turn}` },
          }),
        ),
      );
      const codes = changed.map((answer) => answer?.body.error?.code ?? answer?.status);
      assert.equal(codes.filter((code) => code === 200).length, 1, JSON.stringify(codes));
      assert.equal(codes.filter((code) => code === 'REVISION_CONFLICT').length, 15, JSON.stringify(codes));
      const [row] = await environment.rows<{ revision: number; events: string }>(
        `SELECT o.revision, (SELECT count(*) FROM journal j WHERE j.object_id = o.id AND j.type LIKE 'Object%') AS events FROM objects o WHERE o.id = $1`,
        [[...ids][0]],
      );
      assert.deepEqual([row?.revision, Number(row?.events)], [2, 2]);
    }
  });

  it('stops on request together with its database', async () => {
    const { stage: environment } = on;
    const pid = environment.serverPid();
    assert.equal(await environment.service(1).stop(), 0, environment.said());
    assert.equal(await environment.service(0).stop(), 0, environment.said());
    assert.ok(!isRunning(pid), 'the database server is gone');
    await environment.begin(0);
    await environment.untilAnswered(0);
  });
});

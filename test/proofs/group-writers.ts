/** Writers that change, move and comment on records at random, for tests of group commit. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestAnswer, TestApp } from '../support/app.ts';
import { stored } from '../support/small-configuration.ts';

/** Record → the numbers of acknowledged changes and comments. */
export type Acknowledged = Map<string, { changes: number; comments: number }>;

export interface RandomWrites {
  app: TestApp;
  key: string;
  /** Ids of records of a type with the field `note` and a workflow in which each state has a transition. */
  targets: readonly string[];
  writers: number;
  /** Writes of each writer. */
  rounds: number;
}

export async function writeAtRandom({ app, key, targets, writers, rounds }: RandomWrites): Promise<Acknowledged> {
  const acknowledged: Acknowledged = new Map(targets.map((id) => [id, { changes: 0, comments: 0 }]));
  const send = (method: string, path: string, body: unknown, idempotencyKey?: string): Promise<TestAnswer> =>
    app.request(method, `/api/v1${path}`, { key, body, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
  const comment = async (id: string, body: string): Promise<void> => {
    const idempotencyKey = randomUUID();
    const add = (): Promise<TestAnswer> => send('POST', `/objects/${id}/comments`, { body }, idempotencyKey);
    const [first, second] = await Promise.all([add(), add()]);
    assert.deepEqual([first.status, second.status], [201, 201], JSON.stringify(first.body));
    assert.deepEqual(first.body.data, second.body.data);
  };
  const change = async (id: string, turn: number): Promise<TestAnswer> => {
    const known = (await app.request('GET', `/api/v1/objects/${id}`, { key })).body.data;
    const expectedRevision = known.revision as number;
    const changes = { note: `${turn} ${randomUUID()}` };
    if (turn % 3 === 1) return await send('PATCH', `/objects/${id}`, { expectedRevision, changes });
    const { state, transitions } = (await app.request('GET', `/api/v1/objects/${id}/workflow`, { key })).body.data;
    const body = { transitionId: transitions[0].id, expectedRevision, expectedStateId: state.id };
    return await send('POST', `/objects/${id}/transitions`, body);
  };
  const step = async (id: string, turn: number): Promise<void> => {
    const counted = acknowledged.get(id);
    assert.ok(counted);
    if (turn % 3 === 0) {
      await comment(id, `${turn}`);
      counted.comments++;
      return;
    }
    const answer = await change(id, turn);
    assert.ok([200, 409].includes(answer.status), JSON.stringify(answer.body));
    if (answer.status === 200) counted.changes++;
  };
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let round = 0; round < rounds; round++) {
        const target = targets[(writer * rounds + round * 7) % targets.length];
        if (target !== undefined) await step(target, writer + round);
      }
    }),
  );
  return acknowledged;
}

/** Compares revisions, histories and comments with what was acknowledged. The records were new. */
export async function assertHistories(app: TestApp, acknowledged: Acknowledged): Promise<void> {
  const rows = await stored<{ id: string; revision: number; revisions: number[]; comments: number; events: number }>(
    app,
    `SELECT o.id, o.revision,
       (SELECT array_agg(j.revision::int ORDER BY j.seq) FROM journal j WHERE j.object_id = o.id AND j.revision IS NOT NULL) AS revisions,
       (SELECT count(*)::int FROM comments c WHERE c.object_id = o.id) AS comments,
       (SELECT count(*)::int FROM journal j WHERE j.object_id = o.id) AS events
     FROM objects o WHERE o.id = ANY($1::uuid[])`,
    [[...acknowledged.keys()]],
  );
  assert.equal(rows.length, acknowledged.size);
  for (const row of rows) {
    const { changes, comments } = acknowledged.get(row.id) ?? { changes: -1, comments: -1 };
    assert.equal(row.revision, 1 + changes);
    assert.deepEqual(
      row.revisions,
      Array.from({ length: row.revision }, (_, at) => at + 1),
    );
    assert.deepEqual([row.comments, row.events], [comments, 1 + changes + comments]);
  }
}

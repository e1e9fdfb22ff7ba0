/** When a call is retried and what the caller gets in the end. The service is simulated. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { delayMs, PATIENCE, retryAfterMs } from '../src/patience.ts';
import {
  AlreadyExists,
  type Attempt,
  Conflict,
  ConnectionFailed,
  Docket,
  type DocketError,
  Forbidden,
  InvalidRequest,
  NotFound,
  RateLimited,
  RevisionConflict,
  ServiceFailed,
  Unauthenticated,
} from '../src/index.ts';

const ID = '0197a3c2-5d8e-7c10-9f2b-6d1f1b0a7c55';
const RECORD = { id: ID, revision: 7, values: { title: 'Now' } };

interface Sent {
  method: string;
  url: string;
  key: string | null;
  body: unknown;
}

type Play = Response | Error | 'hang';

const good = (data: unknown, headers: Record<string, string> = {}): Response =>
  Response.json(
    { data, meta: { correlationId: 'c', apiVersion: 'v1' } },
    { headers: { 'x-correlation-id': 'c', ...headers } },
  );
const bad = (status: number, code: string, details: unknown = [], headers: Record<string, string> = {}): Response =>
  Response.json(
    { error: { code, message: 'No.', details }, meta: {} },
    { status, headers: { 'x-correlation-id': 'c', ...headers } },
  );

/** A client with a simulated service that returns prepared responses, and the requests that it received. */
function played(...plays: Play[]): { docket: Docket; sent: Sent[]; attempts: Attempt[] } {
  const sent: Sent[] = [];
  const attempts: Attempt[] = [];
  const docket = new Docket({
    url: 'http://service.invalid/',
    key: 'dk_test',
    patience: { firstDelayMs: 1, maxDelayMs: 4, totalMs: 2000 },
    onAttempt: (attempt) => attempts.push(attempt),
    fetch: async (url, init) => {
      const headers = new Headers(init?.headers);
      assert.equal(headers.get('authorization'), 'Bearer dk_test');
      const { body } = init ?? {};
      sent.push({
        method: init?.method ?? 'GET',
        url: String(url),
        key: headers.get('idempotency-key'),
        body: typeof body === 'string' ? JSON.parse(body) : undefined,
      });
      const play = plays.shift();
      if (play === 'hang') {
        return await new Promise((_, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
        });
      }
      if (play === undefined) throw new Error('nothing more is played');
      if (play instanceof Error) throw play;
      return play;
    },
  });
  return { docket, sent, attempts };
}

const cut = new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
const create = { typeDefinitionId: 'incident', values: { title: 'A' } };

describe('a call', () => {
  it('is sent with path, query and body, and returns the data', async () => {
    const { docket, sent } = played(good({ rows: [], hasMore: false }), good(RECORD), good({}));
    await docket.objects.list({ typeId: 'a&b', page: 2 });
    assert.deepEqual(await docket.objects.update('a/b', { expectedRevision: 6, changes: { title: 'x' } }), RECORD);
    await docket.admin.keys.list();
    assert.deepEqual(
      sent.map(({ method, url }) => `${method} ${url}`),
      [
        'GET http://service.invalid/api/v1/objects?typeId=a%26b&page=2',
        'PATCH http://service.invalid/api/v1/objects/a%2Fb',
        'GET http://service.invalid/api/admin/v1/keys',
      ],
    );
    assert.deepEqual(sent[1]?.body, { expectedRevision: 6, changes: { title: 'x' } });
    assert.equal(sent[1]?.key, null, 'what takes no idempotency key gets none');
  });

  it('uses one Idempotency-Key for all attempts and another for the next call', async () => {
    const { docket, sent, attempts } = played(
      cut,
      bad(503, 'OVERLOADED'),
      good(RECORD, { 'idempotency-replayed': 'true' }),
      good(RECORD),
    );
    let replayed: boolean | undefined;
    const onAnswer = (answer: { replayed: boolean; attempts: number }): void => {
      ({ replayed } = answer);
      assert.equal(answer.attempts, 3);
    };
    await docket.objects.create(create, { onAnswer });
    assert.equal(replayed, true);
    await docket.objects.create(create);
    const [first, second, third, next] = sent.map(({ key }) => key);
    assert.match(first ?? '', /^[\x21-\x7e]{16,255}$/);
    assert.deepEqual([second, third], [first, first]);
    assert.notEqual(next, first);
    assert.deepEqual(
      attempts.map(({ attempt, status, again }) => [attempt, status, again]),
      [
        [1, undefined, 'ECONNRESET'],
        [2, 503, '503 OVERLOADED'],
        [3, 200, undefined],
        [1, 200, undefined],
      ],
    );
    await docket.objects.create(create, { idempotencyKey: 'mine', patience: { totalMs: 0 } }).catch(() => undefined);
    assert.equal(sent.at(-1)?.key, 'mine');
  });

  it('waits as long as Retry-After requests', async () => {
    const { docket } = played(bad(429, 'RATE_LIMITED', [], { 'retry-after': '1' }), good([]));
    const began = performance.now();
    await docket.metadata.types();
    assert.ok(performance.now() - began >= 990);
  });

  it('is not retried if it could take effect twice', async () => {
    const user = { login: 'a', displayName: 'A', email: 'a@example.org' };
    for (const silent of [cut, bad(503, 'DATABASE_UNAVAILABLE'), bad(502, 'X')]) {
      const { docket, sent } = played(silent, good({}));
      await assert.rejects(docket.identity.createUser(user));
      assert.equal(sent.length, 1);
    }
    for (const refused of [bad(429, 'RATE_LIMITED'), bad(503, 'OVERLOADED')]) {
      const { docket, sent } = played(refused, good({}));
      await docket.identity.createUser(user);
      assert.equal(sent.length, 2, 'nothing was done of what was refused at the door');
    }
  });

  it('with an expected revision may be retried, and reports an unknown outcome', async () => {
    const { docket, sent } = played(cut, bad(409, 'REVISION_CONFLICT', { changedSince: [] }));
    const error = await docket.objects.update(ID, { expectedRevision: 6, changes: { a: 1 } }).catch((thrown) => thrown);
    assert.ok(error instanceof RevisionConflict);
    assert.equal(error.uncertain, true);
    assert.equal(sent.length, 2);
    const again = played(bad(429, 'RATE_LIMITED'), bad(409, 'REVISION_CONFLICT'));
    const certain = await again.docket.objects.archive(ID, { expectedRevision: 6 }).catch((thrown) => thrown);
    assert.equal((certain as RevisionConflict).uncertain, false);
    const items = [{ objectId: ID, expectedRevision: 1, changes: { a: 1 } }];
    const bulk = played(cut, good([]));
    await bulk.docket.bulk.run({ operation: 'update', items });
    assert.equal(bulk.sent.length, 2);
  });

  it('ends when its time limit is reached, with the last error', async () => {
    const { docket } = played(...Array.from({ length: 50 }, () => cut));
    const error = await docket.metadata.types({ patience: { totalMs: 10 } }).catch((thrown) => thrown);
    assert.ok(error instanceof ConnectionFailed);
    assert.match(error.message, /^metadata\.types: no answer \(ECONNRESET\) after \d+ tr/);
    const limited = played(...Array.from({ length: 50 }, () => bad(429, 'RATE_LIMITED', [], { 'retry-after': '7' })));
    const refused = await limited.docket.metadata.types().catch((thrown) => thrown);
    assert.ok(refused instanceof RateLimited);
    assert.equal(refused.retryAfterMs, 7000);
    assert.equal(limited.sent.length, 1, 'what asks for more than there is patience for is not waited for');
  });

  it('ends when the caller aborts it, while it runs and while it waits', async () => {
    for (const plays of [['hang'], [bad(503, 'OVERLOADED', [], { 'retry-after': '1' })]] as Play[][]) {
      const { docket } = played(...plays);
      const stop = new AbortController();
      const call = docket.metadata.types({ signal: stop.signal });
      setTimeout(() => stop.abort(new Error('enough')), 5);
      await assert.rejects(call, /enough/);
    }
    const { docket, sent } = played('hang', good([]));
    await docket.metadata.types({ timeoutMs: 20 });
    assert.equal(sent.length, 2, 'a try that takes too long is given up');
  });

  it('reports errors by class, code and path', async () => {
    const expected: [Response, new (...args: never[]) => DocketError][] = [
      [bad(400, 'INVALID_VALUES', [{ path: '/values/a', code: 'REQUIRED', message: 'A value.' }]), InvalidRequest],
      [bad(413, 'BODY_TOO_LARGE'), InvalidRequest],
      [bad(401, 'UNAUTHENTICATED'), Unauthenticated],
      [bad(403, 'SCOPE_MISSING', { scope: 'objects:write' }), Forbidden],
      [bad(404, 'NOT_FOUND'), NotFound],
      [bad(409, 'ARCHIVED'), Conflict],
      [bad(409, 'ALREADY_EXISTS', { field: 'login' }), AlreadyExists],
      [bad(500, 'INTERNAL'), ServiceFailed],
    ];
    for (const [answer, type] of expected) {
      const error = await played(answer)
        .docket.objects.create(create)
        .catch((thrown) => thrown);
      assert.ok(error instanceof type, type.name);
      assert.equal(error.name, type.name);
      assert.equal(error.correlationId, 'c');
      assert.equal(error.operation, 'objects.create');
      if (error instanceof AlreadyExists) assert.equal(error.field, 'login');
      if (error.code === 'INVALID_VALUES') assert.equal((error as InvalidRequest).places[0]?.path, '/values/a');
    }
    const proxy = new Response('<html>Bad gateway', { status: 502 });
    const error = await played(proxy)
      .docket.objects.create(create, { patience: { totalMs: 0 } })
      .catch((thrown) => thrown);
    assert.equal((error as DocketError).code, 'HTTP_502');
  });

  it('with a conflict loads the current record for the program', async () => {
    const since = [{ field: 'title', at: '2026-11-21T09:15:00.000Z', actor: { id: ID, displayName: 'Anna' } }];
    const { docket, sent } = played(bad(409, 'REVISION_CONFLICT', { changedSince: since }), good(RECORD));
    const error = await docket.objects.update(ID, { expectedRevision: 6, changes: { a: 1 } }).catch((thrown) => thrown);
    assert.ok(error instanceof RevisionConflict);
    assert.deepEqual(error.changedSince, since);
    assert.equal((await error.current()).revision, 7);
    assert.equal(sent[1]?.method, 'GET');
    const comment = await played(bad(409, 'REVISION_CONFLICT'))
      .docket.comments.archive(ID, { expectedRevision: 1 })
      .catch((thrown) => thrown);
    await assert.rejects((comment as RevisionConflict).current(), /read its list again/);
  });
});

describe('the retry delay', () => {
  it('grows, has 50 % jitter, and is never shorter than requested', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, asked, random) => {
          const delay = delayMs(PATIENCE, attempt, asked, random);
          const grown = Math.min(PATIENCE.maxDelayMs, PATIENCE.firstDelayMs * 2 ** (attempt - 1));
          assert.ok(delay >= grown / 2 && delay >= (asked ?? 0));
          assert.ok(delay <= Math.max(grown, (asked ?? 0) * 1.1));
        },
      ),
    );
  });

  it('parses Retry-After in both forms', () => {
    assert.equal(retryAfterMs('3', 0), 3000);
    assert.equal(retryAfterMs('Sat, 21 Nov 2026 09:15:05 GMT', Date.parse('2026-11-21T09:15:00Z')), 5000);
    assert.equal(retryAfterMs('Sat, 21 Nov 2026 09:15:05 GMT', Date.parse('2026-11-21T09:16:00Z')), 0);
    for (const nothing of [null, '', 'soon', '-1', '2026-11-21']) assert.equal(retryAfterMs(nothing, 0), undefined);
  });
});

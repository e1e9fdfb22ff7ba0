import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { authenticate, echoing, sendRaw, type Sample, startSample } from '../../test/support/http-sample.ts';
import { MAX_OPEN_BODY, OpenAdmission, sourceOf } from './unverified.ts';
import type { Limits } from './types.ts';

const MIB = 1024 * 1024;
const SOCKETS = 26;

/** Every key that begins with `key-` is valid and is a separate caller. */
function start(limits: Partial<Limits>): Promise<Sample> {
  return startSample(echoing, limits, {
    authenticate: async (given) => {
      const name = given.authorization?.replace('Bearer ', '') ?? '';
      if (!name.startsWith('key-')) return await authenticate(given);
      return { ...(await authenticate({ ...given, authorization: 'Bearer good' })), callerId: name };
    },
  });
}

/** Sends the headers of a request and a part of its body, then stops. */
function hold(port: number, path: string, headers: string, declared: number, sent: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${declared}\r\n${headers}\r\n`,
  );
  socket.write(Buffer.alloc(sent, 'x'));
  return socket;
}

async function creates(sample: Sample, key: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let one = 0; one < 5; one++) {
    const body = JSON.stringify({ name: `made beside slow senders ${one}` });
    statuses.push((await sample.ask('/api/v1/things', { method: 'POST', key, body })).status);
  }
  return statuses;
}

describe('bodies that arrive slowly', () => {
  const senders: Readonly<Record<string, [path: string, headers: string]>> = {
    'a sign-in': ['/api/admin/v1/session', ''],
    'a request without a key': ['/api/v1/things', ''],
    'a request with a wrong key': ['/api/v1/things', 'Authorization: Bearer none\r\n'],
    'a path that does not exist': ['/api/v1/nothing', ''],
    'a page': ['/healthz', ''],
    'one caller with a valid key': ['/api/v1/things', 'Authorization: Bearer key-slow\r\n'],
  };
  for (const [name, [path, headers]] of Object.entries(senders)) {
    it(`do not block writes of others: ${SOCKETS} sockets of ${name}`, async () => {
      // Each socket sends nearly 1 MiB of 10: together as much as all bodies may hold.
      const sample = await start({ bodyBytes: SOCKETS * MIB });
      const sockets = Array.from({ length: SOCKETS }, () => hold(sample.port, path, headers, 10 * MIB, MIB - 1));
      try {
        await sleep(500);
        assert.deepEqual(await creates(sample, 'key-other'), [201, 201, 201, 201, 201]);
        const large = JSON.stringify({ name: 'x', values: { text: 'x'.repeat(4 * MIB) } });
        assert.equal(
          (await sample.ask('/api/v1/things', { method: 'POST', key: 'key-other', body: large })).status,
          201,
        );
      } finally {
        for (const socket of sockets) socket.destroy();
        await sample.close();
      }
    });
  }

  it('do not take the places of authenticated callers', async () => {
    const sample = await start({ inFlight: 8 });
    const sockets = Array.from({ length: SOCKETS }, () => hold(sample.port, '/api/admin/v1/session', '', 1000, 10));
    try {
      await sleep(300);
      assert.deepEqual(await creates(sample, 'key-other'), [201, 201, 201, 201, 201]);
    } finally {
      for (const socket of sockets) socket.destroy();
      await sample.close();
    }
  });
});

describe('unauthenticated connections', () => {
  it('are closed in favour of new clients, unlike those that presented a valid key', async () => {
    const sample = await start({ connections: 16 });
    const open = (): Socket => {
      const socket = connect(sample.port, '127.0.0.1');
      socket.on('error', () => {});
      return socket;
    };
    const known = open();
    let text = '';
    known.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const request = 'GET /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key-known\r\n\r\n';
    known.write(request);
    for (const until = performance.now() + 60_000; text === '' && performance.now() < until; ) await sleep(10);
    const strangers = Array.from({ length: 40 }, open);
    try {
      await sleep(300);
      assert.deepEqual(await creates(sample, 'key-other'), [201, 201, 201, 201, 201]);
      text = '';
      known.write(request);
      for (const until = performance.now() + 60_000; text === '' && performance.now() < until; ) await sleep(10);
      assert.match(text, /^HTTP\/1\.1 200 /);
    } finally {
      for (const socket of [known, ...strangers]) socket.destroy();
      await sample.close();
    }
  });
});

describe('open operations', () => {
  it('accept bodies up to 16 KiB, declared or not', async () => {
    const sample = await start({});
    const body = (bytes: number): string => JSON.stringify({ login: 'x'.repeat(bytes - '{"login":""}'.length) });
    const ask = (bytes: number) =>
      sample.ask('/api/admin/v1/session', { method: 'POST', key: null, body: body(bytes) });
    assert.equal((await ask(MAX_OPEN_BODY)).status, 201);
    const declared = await ask(MAX_OPEN_BODY + 1);
    assert.deepEqual([declared.status, declared.body.error.code], [413, 'BODY_TOO_LARGE']);
    const chunk = body(MAX_OPEN_BODY + 1);
    const chunked = await sendRaw(
      sample.port,
      'POST /api/admin/v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
      `${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`,
    );
    assert.match(chunked, /^HTTP\/1\.1 413 /);
    await sample.close();
  });

  it('are limited by address without affecting authenticated callers at that address', async () => {
    const sample = await start({ open: { perMinute: 5 } });
    const ask = () =>
      sample.ask('/api/admin/v1/session', { method: 'POST', key: null, body: JSON.stringify({ login: 'x' }) });
    for (let one = 0; one < 5; one++) assert.equal((await ask()).status, 201);
    const refused = await ask();
    assert.deepEqual([refused.status, refused.body.error.code], [429, 'RATE_LIMITED']);
    assert.ok(Number(refused.headers.get('retry-after')) <= 12);
    assert.deepEqual(await creates(sample, 'key-other'), [201, 201, 201, 201, 201]);
    await sample.close();
  });

  it('keep places for other addresses when one address uses its maximum', () => {
    const open = new OpenAdmission({ inFlight: 8 });
    const leave = Array.from({ length: 4 }, () => open.enter('a'));
    assert.throws(() => open.enter('a'), { code: 'OVERLOADED' });
    leave.push(open.enter('b'), open.enter('b'));
    assert.throws(() => open.enter('b'), { code: 'OVERLOADED' });
    leave.push(open.enter('c'));
    for (const one of leave) {
      one();
      one();
    }
    assert.equal(open.inFlight, 0);
  });

  it('count an IPv6 client by its network', () => {
    assert.equal(sourceOf('10.0.0.1'), '10.0.0.1');
    assert.equal(sourceOf('2001:db8:1:2:3:4:5:6'), sourceOf('2001:db8:1:2::1'));
    assert.notEqual(sourceOf('2001:db8:1:2::1'), sourceOf('2001:db8:1:3::1'));
    assert.equal(sourceOf(''), '');
  });
});

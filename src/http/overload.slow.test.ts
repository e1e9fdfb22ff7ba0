/**
 * Overload by one key, or by clients that hold connections. Requests take time but no processor time, so that capacity depends
 * only on the limit. Against the real service: `npm run test:overload`.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { authenticate, echoing, getting, type Sample, startSample } from '../../test/support/http-sample.ts';
import { OpenLoopSender, type TimedRequest } from '../../test/proofs/open-loop-sender.ts';

const RUNNING = 8;
const TAKES_MS = 40;
const OTHERS = 9;
const FLOOD_RATE = 1000;
const LASTS_MS = 2500;
const STALLED_MS = 400;
/** A bound against hanging. */
const HANGS_MS = 60_000;
const LARGE = 8 * 1024 * 1024;
const ANSWERS = 4;

describe('overload', () => {
  let sample: Sample;
  before(async () => {
    const work = getting('/work', async () => {
      await sleep(TAKES_MS);
      return 'done';
    });
    sample = await startSample(
      [...echoing, work],
      { running: RUNNING },
      {
        // Every key is valid and is a separate caller.
        authenticate: async (given) => ({
          ...(await authenticate({ ...given, authorization: 'Bearer reader' })),
          callerId: given.authorization ?? '',
        }),
      },
    );
  });
  after(() => sample?.close());

  it('rejects the flood of one key with Retry-After, and almost no requests of nine others', async () => {
    const senders = Array.from(
      { length: OTHERS + 1 },
      (_, turn) =>
        new OpenLoopSender(sample.url, `key-${turn}`, [{ method: 'GET', path: '/api/v1/work', weight: 1 }], 600),
    );
    const [flood, ...others] = senders as [OpenLoopSender, ...OpenLoopSender[]];
    const flooded = flood.fire(FLOOD_RATE, LASTS_MS);
    // Nine calm keys use a fifth of the capacity.
    const calm = await Promise.all(others.map((sender) => sender.fire(4, LASTS_MS)));
    const { shots, broken, turnedAway } = await flooded;
    for (const sender of senders) sender.close();
    const refused = shots.filter(({ status }) => status !== 200);
    assert.ok(refused.length > shots.length / 4, `${refused.length} of ${shots.length} were refused`);
    assert.ok(shots.length - refused.length > RUNNING, 'the flood gets its share too');
    assert.ok(refused.every(({ status, retryAfter }: TimedRequest) => status === 503 && retryAfter));
    assert.deepEqual([broken, turnedAway], [0, 0]);
    const all = calm.flatMap((volley) => volley.shots);
    const hurt = all.filter(({ status }) => status !== 200);
    assert.ok(all.length >= OTHERS * 8, 'the others asked');
    assert.ok(hurt.length <= all.length / 10, `${hurt.length} of ${all.length} requests of others were refused`);
    const afterwards = await sample.ask('/api/v1/work');
    assert.equal(afterwards.status, 200);
  });
});

describe('stalled connections', () => {
  let sample: Sample;
  before(async () => {
    const large = getting('/large', async () => Buffer.alloc(LARGE, 'x'), {
      raw: { mediaTypes: ['text/plain'] },
    });
    const long = getting('/long', async () => {
      await sleep(3 * STALLED_MS);
      return 'done';
    });
    sample = await startSample([...echoing, large, long], { receiveMs: STALLED_MS, stalledMs: STALLED_MS });
  });
  after(() => sample?.close());

  /** Sends `first`, then `drip` repeatedly. @returns whether the server closed the connection in time */
  async function closed(first: string, drip: string): Promise<boolean> {
    const socket = connect(sample.port, '127.0.0.1');
    let over = false;
    socket.on('close', () => {
      over = true;
    });
    socket.on('error', () => {});
    socket.resume();
    if (first !== '') socket.write(first);
    for (const began = performance.now(); !over && performance.now() - began < HANGS_MS; await sleep(50)) {
      if (drip !== '') socket.write(drip);
    }
    socket.destroy();
    return over;
  }

  const head =
    'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n';
  const large = 'GET /api/v1/large HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n\r\n';
  const ways: Readonly<Record<string, [first: string, drip: string]>> = {
    'says nothing': ['', ''],
    'sends its headers byte by byte': ['GET /api/v1/things HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'x'],
    'sends its body byte by byte': [head, ' '],
    'stops within its body': [head, ''],
  };
  for (const [name, [first, drip]] of Object.entries(ways)) {
    it(`closes a client that ${name}`, async () => {
      assert.ok(await closed(first, drip));
    });
  }

  it('closes a client that does not read its responses', async () => {
    const socket = connect(sample.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(large.repeat(ANSWERS));
    await sleep(4 * STALLED_MS);
    // A client that does not read sees no close event. It now reads what had been sent until then.
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const ended = new Promise<boolean>((resolve) => {
      socket.on('close', () => resolve(true));
    });
    assert.ok(await Promise.race([ended, sleep(HANGS_MS, false, { ref: false })]));
    assert.ok(bytes < ANSWERS * LARGE, `${bytes} bytes had been kept for it`);
    socket.destroy();
  });

  it('closes a client that reads a large response byte by byte and keeps sending', async () => {
    const socket = connect(sample.port, '127.0.0.1');
    let over = false;
    socket.on('error', () => {});
    socket.on('close', () => {
      over = true;
    });
    socket.write(large);
    // Reads slowly while it keeps sending.
    for (const began = performance.now(); !over && performance.now() - began < HANGS_MS; await sleep(50)) {
      socket.read(1);
      socket.write('\r\n');
    }
    assert.ok(over);
    socket.destroy();
    const broken = sample.lines.map((line) => line['broken'] as { type: string } | undefined);
    assert.ok(broken.some((error) => error?.type === 'SlowReader'));
  });

  it('rejects further large responses only to the caller who does not read them', async () => {
    const small = await startSample(
      [getting('/large', async () => Buffer.alloc(LARGE, 'x'), { raw: { mediaTypes: ['text/plain'] } })],
      { answerBytes: 8 * LARGE },
    );
    const sockets = Array.from({ length: 12 }, () => {
      const socket = connect(small.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.pause();
      socket.write(large);
      return socket;
    });
    try {
      let refused = await small.ask('/api/v1/large');
      for (
        const until = performance.now() + HANGS_MS;
        refused.status === 200 && performance.now() < until;
        await sleep(50)
      ) {
        refused = await small.ask('/api/v1/large');
      }
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
      assert.equal((await small.ask('/api/v1/large', { key: 'reader' })).text.length, LARGE);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    for (const until = performance.now() + HANGS_MS; performance.now() < until; await sleep(50)) {
      if ((await small.ask('/api/v1/large')).status === 200) break;
    }
    assert.equal((await small.ask('/api/v1/large')).status, 200);
    await small.close();
  });

  it('closes no connection while a response takes longer', async () => {
    assert.equal((await sample.ask('/api/v1/long')).status, 200);
  });
});

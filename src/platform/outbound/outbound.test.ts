/** Outgoing calls: which addresses they may reach and how long they may take. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import {
  type PrivateListener,
  HOSTILE_NAMES,
  PRIVATE_HOSTS,
  startPrivateListener,
} from '../../../test/support/private-listener.ts';
import { type Answer, type Receiver, startReceiver } from '../../../test/support/receiver.ts';
import { isPublicAddress, resolveBySystem } from './address.ts';
import { Outbound, type OutboundOptions } from './outbound.ts';

const BODY = Buffer.from('{"a":1}');
const HEADERS = { 'content-type': 'application/json' };

async function hostile(name: string): Promise<readonly string[]> {
  return HOSTILE_NAMES.get(name) ?? (await resolveBySystem(name));
}

async function within<T>(options: OutboundOptions, fn: (outbound: Outbound) => Promise<T>): Promise<T> {
  const outbound = new Outbound(options);
  try {
    return await fn(outbound);
  } finally {
    await outbound.close();
  }
}

describe('public addresses', () => {
  it('exclude private and reserved networks', () => {
    for (const address of ['1.1.1.1', '93.184.215.14', '172.32.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])
      assert.ok(isPublicAddress(address), address);
    for (const address of ['127.0.0.1', '::ffff:127.0.0.1', 'fe80::1%lo', '', 'localhost', '192.168.1.1'])
      assert.ok(!isPublicAddress(address), address);
  });
});

describe('calls to private addresses', () => {
  let canary: PrivateListener;
  before(async () => {
    canary = await startPrivateListener();
  });
  after(() => canary.close());

  it(`are rejected in each of ${PRIVATE_HOSTS.length} spellings without a connection`, async () => {
    assert.ok(PRIVATE_HOSTS.length >= 60);
    await within({ allowPrivate: false, limitMs: 2000, resolve: hostile }, async (outbound) => {
      for (const host of PRIVATE_HOSTS) {
        const url = `https://${host}:${canary.port}/hook`;
        assert.ok((await outbound.refusals([url])).has(url), `${url} when saved`);
        const outcome = await outbound.post(url, HEADERS, BODY);
        assert.equal(outcome.kind, 'refused', `${url}: ${JSON.stringify(outcome)}`);
      }
      for (const url of [
        `http://1.1.1.1:${canary.port}/`,
        `http://127.0.0.1:${canary.port}/`,
        'ftp://1.1.1.1/',
        'nonsense',
      ])
        assert.equal((await outbound.post(url, HEADERS, BODY)).kind, 'refused', url);
    });
    assert.equal(canary.sung, 0);
  });

  it('are detected among many names, and unresolvable names delay nothing', async () => {
    const asked: string[] = [];
    const resolve = (name: string): Promise<readonly string[]> => {
      asked.push(name);
      return name.startsWith('slow') ? new Promise(() => {}) : Promise.resolve(['10.0.0.1']);
    };
    await within({ allowPrivate: false, limitMs: 100, resolve }, async (outbound) => {
      const slow = Array.from({ length: 50 }, (_, index) => `https://slow-${index}.example.org/`);
      const at = ['https://127.0.0.1/', 'https://localhost/', 'https://1.1.1.1/'];
      const refused = await outbound.refusals(['https://inner.example.org/a', ...slow, ...at, 'nonsense']);
      assert.deepEqual([...refused.keys()].sort(), [
        'https://127.0.0.1/',
        'https://inner.example.org/a',
        'https://localhost/',
      ]);
      assert.deepEqual(asked, ['inner.example.org', 'slow-0.example.org', 'slow-1.example.org'], 'two at once');
      const twice = await outbound.refusals(['https://inner.example.org/a', 'https://inner.example.org/b']);
      assert.equal(twice.size, 2);
      assert.equal(asked.length, 4, 'one look-up for a name');
    });
  });

  it('are rejected at the socket if the name was public a moment before', async () => {
    let asked = 0;
    const turns = async (): Promise<readonly string[]> => (asked++ % 2 === 0 ? ['1.1.1.1'] : ['127.0.0.1']);
    await within({ allowPrivate: false, limitMs: 50, resolve: turns }, async (outbound) => {
      const url = `https://rebinding.example.org:${canary.port}/hook`;
      for (let turn = 0; turn < 100; turn++) {
        assert.equal((await outbound.refusals([url])).size, 0, 'public when it is looked at');
        assert.equal((await outbound.post(url, HEADERS, BODY)).kind, 'refused', 'and private when it is called');
      }
      assert.equal(asked, 200, 'one look-up for each, and none between judging and connecting');
    });
    assert.equal(canary.sung, 0);
  });

  it('are made if the rule is disabled, which disables nothing else', async () => {
    const receiver = await startReceiver();
    try {
      await within({ allowPrivate: true, ca: receiver.ca }, async (outbound) => {
        assert.equal((await outbound.post(receiver.url, HEADERS, BODY)).kind, 'answered');
        const plain = receiver.url.replace('https:', 'http:');
        assert.equal((await outbound.post(plain, HEADERS, BODY)).kind, 'refused');
        assert.equal((await outbound.refusals(['https://127.0.0.1/'])).size, 0);
      });
      await within({ allowPrivate: true }, async (outbound) => {
        const outcome = await outbound.post(receiver.url, HEADERS, BODY);
        assert.equal(outcome.kind, 'failed', 'a certificate that nobody vouches for');
        assert.match((outcome as { reason: string }).reason, /SELF_SIGNED|UNABLE_TO_VERIFY/);
      });
      await within({ allowPrivate: true, ca: receiver.ca, resolve: async () => ['127.0.0.1'] }, async (outbound) => {
        const at = (host: string): string => `https://${host}:${receiver.port}/hook`;
        assert.equal((await outbound.post(at('hooks.example.org'), HEADERS, BODY)).kind, 'answered');
        const strange = await outbound.post(at('strange.example.net'), HEADERS, BODY);
        assert.equal(strange.kind, 'failed', 'a certificate for another host');
      });
    } finally {
      await receiver.close();
    }
  });

  it('ignore proxy settings and disabled certificate checks of the environment', async () => {
    const receiver = await startReceiver();
    try {
      const program = `import { Outbound } from ${JSON.stringify(new URL('./outbound.ts', import.meta.url).href)};
        const outbound = new Outbound({ allowPrivate: true, ...(process.env.CA ? { ca: process.env.CA } : {}) });
        console.log(JSON.stringify(await outbound.post(process.argv[1], {}, Buffer.from('{}'))));
        await outbound.close();`;
      const proxy = `http://127.0.0.1:${canary.port}`;
      const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
      const env = {
        ...Object.fromEntries(names.map((name) => [name, proxy])),
        NODE_USE_ENV_PROXY: '1',
        NO_PROXY: '',
        CA: receiver.ca,
      };
      const args = ['--input-type=module', '-e', program, receiver.url];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env });
      assert.equal(JSON.parse(stdout).status, 200);
      assert.equal(receiver.received.length, 1);
      const lax = { ...env, CA: '', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
      const strict = await promisify(execFile)(process.execPath, args, { env: lax });
      assert.equal(JSON.parse(strict.stdout).kind, 'failed', 'no variable lets a certificate pass');
      assert.equal(receiver.received.length, 1);
      assert.equal(canary.sung, 0);
    } finally {
      await receiver.close();
    }
  });
});

/** A call without a limit would never end; a busy machine may cause delays. */
const MAX_MS = 50_000;

describe('an outbound call', () => {
  let receiver: Receiver;
  let canary: PrivateListener;
  before(async () => {
    receiver = await startReceiver();
    canary = await startPrivateListener();
  });
  after(async () => {
    await receiver.close();
    await canary.close();
  });
  beforeEach(() => {
    receiver.received.length = 0;
  });

  const post = async (answer: Answer, limitMs = 2000) => {
    receiver.answer = answer;
    const began = performance.now();
    const outcome = await within({ allowPrivate: true, ca: receiver.ca, limitMs }, (outbound) =>
      outbound.post(receiver.url, HEADERS, BODY),
    );
    return { outcome, tookMs: performance.now() - began };
  };
  const byHand = (write: Extract<Answer, { byHand: unknown }>['byHand']): Answer => ({ byHand: write });

  it('sends the bytes unchanged', async () => {
    const { outcome } = await post({ status: 202, body: 'fine', headers: { 'Retry-After': '7' } });
    assert.deepEqual(receiver.received[0]?.raw, BODY);
    assert.ok(outcome.kind === 'answered');
    assert.equal(outcome.status, 202);
    assert.equal(outcome.body.toString(), 'fine');
    assert.equal(outcome.retryAfter, '7');
  });

  it('follows no redirect', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      for (const location of [`https://127.0.0.1:${canary.port}/`, `${receiver.url}/again`]) {
        receiver.received.length = 0;
        const { outcome } = await post({ status, headers: { location } });
        assert.ok(outcome.kind === 'answered');
        assert.equal(outcome.status, status);
        assert.equal(receiver.received.length, 1);
      }
    }
    assert.equal(canary.sung, 0);
  });

  it('ends in time if no response comes or the connection breaks', async () => {
    const hanging = await post('hang', 400);
    assert.equal(hanging.outcome.kind, 'failed');
    assert.ok(hanging.tookMs >= 390 && hanging.tookMs < MAX_MS, `${hanging.tookMs}`);
    // Not because of the time limit, which is a minute.
    const broken = await post('reset', 60_000);
    assert.equal(broken.outcome.kind, 'failed');
    assert.ok(broken.tookMs < MAX_MS);
    const closed = await startReceiver();
    await closed.close();
    const outcome = await within({ allowPrivate: true }, (outbound) => outbound.post(closed.url, HEADERS, BODY));
    assert.deepEqual(
      { ...outcome, durationMs: 0 },
      { kind: 'failed', reason: 'no answer: ECONNREFUSED', durationMs: 0 },
    );
  });

  it('keeps the received status, and at most 64 KiB of a long, slow or broken response', async () => {
    const answers: Record<string, Answer> = {
      endless: byHand((response) => {
        response.writeHead(200);
        const chunk = Buffer.alloc(1_000_000, 'x');
        const more = (): void => {
          if (!response.destroyed) response.write(chunk, () => setImmediate(more));
        };
        more();
      }),
      dripping: byHand((response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write('x'), 50);
        response.on('close', () => clearInterval(timer));
      }),
      'cut off': byHand((response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('x', () => response.destroy());
      }),
      compressed: { status: 200, headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(30_000_000)) },
      'after early hints': byHand((response) => {
        response.writeEarlyHints({ link: '</x>; rel=preload' });
        response.writeHead(200).end('x');
      }),
    };
    for (const [what, answer] of Object.entries(answers)) {
      const { outcome, tookMs } = await post(answer);
      assert.ok(outcome.kind === 'answered', `${what}: ${JSON.stringify(outcome)}`);
      assert.equal(outcome.status, 200, what);
      assert.ok(outcome.body.length <= 65_536, what);
      assert.ok(tookMs < MAX_MS, `${what}: ${tookMs}`);
      if (what === 'endless') assert.equal(outcome.body.length, 65_536);
    }
  });

  it('ends on endless headers', async () => {
    const endless = byHand(({ socket }) => {
      socket?.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket?.write(`x-more: ${'x'.repeat(8000)}\r\n`), 1);
      socket?.on('close', () => clearInterval(timer));
    });
    const { outcome, tookMs } = await post(endless);
    assert.equal(outcome.kind, 'failed');
    assert.ok(tookMs < MAX_MS);
  });

  it('blocks nothing else during name resolution', async () => {
    let asked = 0;
    const looked = Promise.withResolvers<void>();
    const resolve = async (name: string): Promise<readonly string[]> => {
      if (name !== 'slow.example.org') return ['127.0.0.1'];
      asked++;
      await looked.promise;
      return ['127.0.0.1'];
    };
    receiver.answer = { status: 200 };
    await within({ allowPrivate: true, ca: receiver.ca, limitMs: 2000, resolve }, async (outbound) => {
      const slow = Array.from({ length: 20 }, () =>
        outbound.post(`https://slow.example.org:${receiver.port}/`, {}, BODY),
      );
      const quick = await outbound.post(`https://hooks.example.org:${receiver.port}/`, {}, BODY);
      assert.equal(quick.kind, 'answered');
      for (const outcome of await Promise.all(slow)) assert.equal(outcome.kind, 'failed');
      assert.equal(asked, 1, 'one look-up under way for a name');
      looked.resolve();
    });
  });
});

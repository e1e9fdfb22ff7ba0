import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { Reply } from '../contract/operation.ts';
import { Fault } from '../lib/fault.ts';
import type { Binding } from '../platform/module.ts';
import { echoing, getting, sendRaw, type Sample, startSample } from '../../test/support/http-sample.ts';
import { drain } from './server.ts';

const FILE = { raw: { mediaTypes: ['application/octet-stream'] } };

function file(path: string, make: () => unknown): Binding {
  return getting(path, async () => make(), FILE);
}

async function withSample(bindings: Binding[], fn: (sample: Sample) => Promise<void>): Promise<void> {
  const sample = await startSample(bindings);
  try {
    await fn(sample);
  } finally {
    await sample.close();
  }
}

describe('raw responses', () => {
  it('are bytes, text or a stream with their own headers', async () => {
    const headers = {
      'Content-Disposition': "attachment; filename*=UTF-8''%D0%B0.txt",
      'cache-control': 'private',
      'Content-Security-Policy': 'sandbox',
    };
    const bindings = [
      file('/bytes', () => new Reply(Buffer.from([1, 2, 3]), headers)),
      file('/text', () => new Reply('строка', { 'Content-Type': 'text/csv' }, 206)),
      file('/stream', () => new Reply(Readable.from([Buffer.from('ab'), Buffer.from('c')]), { 'Content-Length': '3' })),
      file('/plain', () => Buffer.from('x')),
      file('/same', () => new Reply(undefined, { ETag: '"1"' }, 304)),
      file('/empty', () => Readable.from([])),
    ];
    await withSample(bindings, async (sample) => {
      const bytes = await sample.ask('/api/v1/bytes');
      assert.deepEqual([bytes.status, bytes.text], [200, '\u0001\u0002\u0003']);
      assert.equal(bytes.headers.get('content-disposition'), headers['Content-Disposition']);
      assert.equal(bytes.headers.get('cache-control'), 'private', 'once, and not beside no-store');
      assert.equal(bytes.headers.get('content-security-policy'), 'sandbox');
      assert.equal(bytes.headers.get('x-content-type-options'), 'nosniff');
      assert.ok(bytes.headers.get('x-correlation-id'));
      const partial = await sample.ask('/api/v1/text');
      assert.deepEqual(
        [partial.status, partial.text, partial.headers.get('content-type')],
        [206, 'строка', 'text/csv'],
      );
      const stream = await sample.ask('/api/v1/stream');
      assert.deepEqual([stream.text, stream.headers.get('content-length')], ['abc', '3']);
      assert.equal((await sample.ask('/api/v1/plain')).headers.get('content-type'), 'application/octet-stream');
      const same = await sample.ask('/api/v1/same');
      assert.deepEqual([same.status, same.text, same.headers.get('etag')], [304, '', '"1"']);
      assert.deepEqual(
        [(await sample.ask('/api/v1/empty')).status, (await sample.ask('/api/v1/empty')).text],
        [200, ''],
      );
      const head = await sample.ask('/api/v1/stream', { method: 'HEAD' });
      assert.deepEqual([head.text, head.headers.get('content-length')], ['', '3']);
    });
  });

  it('report when they were sent or the client left', async () => {
    const closed: string[] = [];
    const large = Buffer.alloc(64 * 1024 * 1024);
    const bindings = [
      file('/small', () => new Reply(Buffer.from('x'), {}, 200, () => closed.push('small'))),
      file('/large', () => new Reply(large, {}, 200, () => closed.push('large'))),
    ];
    await withSample(bindings, async (sample) => {
      assert.equal((await sample.ask('/api/v1/small')).text, 'x');
      await until(() => closed.length === 1);
      const leaving = new AbortController();
      const answer = await fetch(`http://127.0.0.1:${sample.port}/api/v1/large`, {
        headers: { authorization: 'Bearer good' },
        signal: leaving.signal,
      });
      assert.equal(answer.status, 200);
      assert.deepEqual(closed, ['small'], 'held while the client takes its time');
      leaving.abort();
      await until(() => closed.length === 2);
      assert.deepEqual(closed, ['small', 'large']);
    });
  });

  it('become an error until something was sent', async () => {
    const failing = (error: Error): Readable =>
      new Readable({
        read() {
          this.destroy(error);
        },
      });
    const bindings = [
      file('/fault', () => failing(new Fault('NOT_FOUND', 'There is no such file.'))),
      file('/defect', () => failing(new Error('inside'))),
      file('/dead', () => Readable.from([]).destroy()),
      file('/header', () => new Reply('x', { 'Content-Disposition': 'a\r\nX-Injected: 1' })),
      file('/object', () => ({ not: 'raw' })),
    ];
    await withSample(bindings, async (sample) => {
      assert.deepEqual((await sample.ask('/api/v1/fault')).body.error.code, 'NOT_FOUND');
      for (const path of ['/defect', '/dead', '/header', '/object']) {
        const { status, body, headers } = await sample.ask(`/api/v1${path}`);
        assert.deepEqual([status, body.error.code, headers.get('x-injected')], [500, 'INTERNAL', null], path);
      }
    });
  });

  it('abort the connection when they fail midway, so that they never look complete', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('half');
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
      throw new Error('disk');
    }
    const bindings = [
      file('/broken', () => Readable.from(broken())),
      file('/short', () => new Reply(Readable.from([Buffer.from('abc')]), { 'Content-Length': '5' })),
      file('/long', () => new Reply(Readable.from([Buffer.from('abcdef')]), { 'Content-Length': '5' })),
    ];
    await withSample(bindings, async (sample) => {
      for (const path of ['/broken', '/short', '/long']) await assert.rejects(sample.ask(`/api/v1${path}`), path);
      assert.equal(sample.lines.filter((line) => line.broken !== undefined).length, 3);
      assert.equal((await sample.ask('/healthz')).status, 200);
    });
  });

  it('release their source when the client leaves', async () => {
    const source = new Readable({ read: () => {} });
    const gone = new Promise((resolve) => source.on('close', resolve));
    await withSample([file('/endless', () => source)], async (sample) => {
      source.push(Buffer.alloc(1000));
      const request = httpRequest(`http://127.0.0.1:${sample.port}/api/v1/endless`, {
        headers: { authorization: 'Bearer good' },
      });
      request.on('error', () => {});
      request.on('response', (response) => response.once('data', () => request.destroy()));
      request.end();
      await gone;
    });
  });
});

describe('a client that disconnects', () => {
  it('affects nobody, before or during the work', async () => {
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const slow = getting('/slow', async () => {
      started.resolve();
      await finish.promise;
      return 1;
    });
    await withSample([...echoing, slow], async (sample) => {
      const half = connect(sample.port, '127.0.0.1');
      const head =
        'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n';
      half.write(`${head}Content-Length: 100\r\n\r\n{`, () => setTimeout(() => half.destroy(), 20));
      const waiting = connect(sample.port, '127.0.0.1');
      waiting.write('GET /api/v1/slow HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n\r\n');
      await started.promise;
      waiting.destroy();
      await until(() => sample.lines.some((line) => line.status === 499));
      finish.resolve();
      await until(() => sample.lines.some((line) => line.gone === true && line.operation === 'get.slow'));
      assert.match((await sample.ask('/metrics')).text, /^docket_http_requests_in_flight 0$/m);
    });
  });
});

describe('draining', () => {
  it('finishes running requests, closes idle connections and accepts no new ones', async () => {
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const slow = getting('/slow', async () => {
      started.resolve();
      await finish.promise;
      return 'done';
    });
    const sample = await startSample([...echoing, slow]);
    const idle = connect(sample.port, '127.0.0.1');
    const silent = text(idle);
    const running = sendRaw(sample.port, 'GET /api/v1/slow HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n\r\n');
    await started.promise;
    const drained = drain(sample.server, 5000);
    await assert.rejects(fetch(`${sample.url}/healthz`));
    finish.resolve();
    const answer = await running;
    assert.match(answer, /^HTTP\/1\.1 200 .*connection: close.*"data":"done"/is);
    assert.equal(await drained, true);
    assert.equal(await silent, '');
  });

  it('ends after its time limit', async () => {
    const started = Promise.withResolvers<void>();
    const hanging = getting('/hang', async () => {
      started.resolve();
      await new Promise(() => {});
    });
    const sample = await startSample([hanging]);
    const lost = sample.ask('/api/v1/hang');
    lost.catch(() => {});
    await started.promise;
    assert.equal(await drain(sample.server, 100), false);
    await assert.rejects(lost);
  });

  it('makes /readyz report that the process is stopping', async () => {
    const sample = await startSample();
    const socket = connect(sample.port, '127.0.0.1');
    const got = text(socket);
    socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => sample.lines.length > 0);
    const drained = drain(sample.server, 3000);
    socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.match(await got, /^HTTP\/1\.1 200 .*HTTP\/1\.1 503 /s);
    assert.equal(await drained, true);
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 200 && !condition(); i++) {
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
  assert.ok(condition());
}

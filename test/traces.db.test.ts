/** Traces as an OTLP receiver gets them: requests, statements and outbound calls, without record data. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { statementName, type Tracer } from '../src/platform/observability/traces.ts';
import { startTraces } from '../src/platform/observability/traces-otel.ts';
import { createTestDatabase } from './support/database.ts';
import { startService } from './proofs/fault-service.ts';
import { type WebhookFixture, startWebhookFixture } from './support/webhook-fixture.ts';

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number };
}

const CANARY = 'zanzibarcanary';
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

/** Stores what it receives. */
async function startCollector(): Promise<{ server: Server; url: string; raw: string[]; paths: Set<string> }> {
  const raw: string[] = [];
  const paths = new Set<string>();
  const server = createServer((request, response) => {
    let body = '';
    paths.add(request.url ?? '');
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      raw.push(body);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, raw, paths };
}

function spansIn(raw: readonly string[]): SentSpan[] {
  return raw.flatMap((text) => {
    const { resourceSpans } = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });
}

function attributesOf(span: SentSpan): Record<string, unknown> {
  return Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

describe('traces', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let tracer: Tracer;
  let fixture: WebhookFixture;
  let spans: SentSpan[];
  let createdId: string;

  before(async () => {
    collector = await startCollector();
    tracer = startTraces({ endpoint: collector.url, everyMs: 100 });
    fixture = await startWebhookFixture({ tracer });
    const { id: subscription } = await fixture.subscribe();
    const send = (traceparent: string, body: object) =>
      fixture.app.request('POST', '/api/v1/objects', {
        key: fixture.keys.boss,
        headers: { traceparent, 'x-correlation-id': 'id-of-the-caller' },
        body,
      });
    const values = { title: `${CANARY} title`, secret: CANARY };
    const made = await send(`00-${traceId}-b7ad6b7169203331-01`, { typeDefinitionId: 'thing', values });
    assert.equal(made.status, 201);
    createdId = made.body.data.id;
    await fixture.call('boss', 'GET', `/search?q=${CANARY}`);
    await fixture.call('boss', 'GET', `/objects/${createdId}`);
    await send('00-zz', { typeDefinitionId: 'thing', values: {} });
    await fixture.settled(subscription);
    await tracer.stop();
    spans = spansIn(collector.raw);
  });
  after(async () => {
    await fixture.close();
    await new Promise((resolve) => collector.server.close(resolve));
  });

  it('continue the trace of the caller and contain operation, route, status, key and correlation id', () => {
    assert.deepEqual([...collector.paths], ['/v1/traces']);
    const span = spans.find((one) => one.traceId === traceId && one.kind === SERVER);
    assert.ok(span !== undefined);
    assert.equal(span.parentSpanId, 'b7ad6b7169203331');
    assert.equal(span.name, 'objects.create');
    const attributes = attributesOf(span);
    assert.match(String(attributes['docket.key_id']), /^[0-9a-f-]{36}$/);
    delete attributes['docket.key_id'];
    assert.deepEqual(attributes, {
      'http.request.method': 'POST',
      'http.route': '/api/v1/objects',
      'http.response.status_code': 201,
      'docket.operation': 'objects.create',
      'docket.correlation_id': 'id-of-the-caller',
    });
  });

  it('have a span for each statement under its operation', () => {
    const request = spans.find((one) => one.traceId === traceId && one.kind === SERVER);
    const statements = spans.filter((one) => one.traceId === traceId && one.kind === CLIENT);
    assert.ok(statements.length > 0);
    for (const one of statements) assert.equal(one.parentSpanId, request?.spanId);
    assert.ok(statements.some(({ name }) => name.startsWith('WITH ') && name.includes('journal_rows')));
    // What polls in the background makes no traces.
    assert.ok(
      spans.every((one) => one.kind === SERVER || one.parentSpanId !== undefined || one.name === 'webhook.deliver'),
    );
    // Nor does background work that a request woke belong to the request.
    assert.ok(!spans.some(({ name }) => name === 'UPDATE journal_consumers'));
  });

  it('start new without a valid parent', () => {
    const refused = spans.find((one) => attributesOf(one)['http.response.status_code'] === 400);
    assert.ok(refused !== undefined && refused.traceId !== traceId && !refused.parentSpanId);
    assert.notEqual(refused.status.code, ERROR, 'a refusal is no failure of the service');
  });

  it('propagate to outbound calls', () => {
    const [received] = fixture.receiver.received;
    const delivery = spans.find(({ name }) => name === 'webhook.deliver');
    assert.ok(received !== undefined && delivery !== undefined);
    assert.equal(received.headers['traceparent'], `00-${delivery.traceId}-${delivery.spanId}-01`);
    assert.equal(attributesOf(delivery)['http.response.status_code'], 200);
  });

  it('contain no data of records or keys', () => {
    const text = collector.raw.join('\n');
    assert.ok(!text.toLowerCase().includes(CANARY));
    assert.ok(!text.includes(createdId), 'a route has no ids');
    for (const key of Object.values(fixture.keys)) assert.ok(!text.includes(key));
    assert.ok(!text.includes(fixture.secret));
  });

  it('name a statement by its purpose and never contain values', () => {
    assert.equal(
      statementName("SELECT a FROM objects WHERE title = 'x' AND b IN (SELECT id FROM users)"),
      'SELECT objects',
    );
    assert.equal(statementName('\n  INSERT INTO blobs AS b (sha256) VALUES ($1)'), 'INSERT blobs');
    assert.equal(statementName('WITH a AS (SELECT 1), b_rows AS MATERIALIZED (SELECT 2) SELECT 1'), 'WITH a b_rows');
    assert.equal(statementName('COMMIT'), 'COMMIT');
    assert.equal(statementName("SELECT 'secret'"), 'SELECT');
  });

  describe('samplers', () => {
    const PARENTS = {
      none: undefined,
      recorded: `00-${traceId}-b7ad6b7169203331-01`,
      unrecorded: `00-${traceId}-b7ad6b7169203331-00`,
    } as const;
    const REQUESTS = 400;

    /** How many of 400 requests with that caller arrive at the receiver. */
    async function recorded(
      sampling: { sampler: string; ratio: number },
      parent: keyof typeof PARENTS,
    ): Promise<number> {
      const receiver = await startCollector();
      const own = startTraces({ endpoint: receiver.url, everyMs: 60_000, sampling });
      const headers = { traceparent: PARENTS[parent], tracestate: undefined };
      for (let i = 0; i < REQUESTS; i++) {
        await own.run({ name: 'asked', kind: 'server', attributes: {}, parent: headers }, async (span) => {
          assert.match(span.traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
        });
      }
      await own.stop();
      await new Promise((resolve) => receiver.server.close(resolve));
      return spansIn(receiver.raw).length;
    }

    const all = REQUESTS;
    const cases: readonly (readonly [string, Readonly<Record<keyof typeof PARENTS, number>>])[] = [
      ['always_on', { none: all, recorded: all, unrecorded: all }],
      ['always_off', { none: 0, recorded: 0, unrecorded: 0 }],
      ['parentbased_always_on', { none: all, recorded: all, unrecorded: 0 }],
      ['parentbased_always_off', { none: 0, recorded: all, unrecorded: 0 }],
    ];
    for (const [sampler, expected] of cases) {
      it(`${sampler} records what its name says`, async () => {
        for (const parent of ['none', 'recorded', 'unrecorded'] as const) {
          assert.equal(await recorded({ sampler, ratio: 1 }, parent), expected[parent], parent);
        }
      });
    }

    it("by ratio sample that share of new traces and follow the parent's decision", async () => {
      for (const sampler of ['traceidratio', 'parentbased_traceidratio']) {
        const found = await recorded({ sampler, ratio: 0.25 }, 'none');
        // 100 expected with a standard deviation of 9.
        assert.ok(found > 40 && found < 160, `${sampler}: ${found} of ${REQUESTS}`);
        assert.equal(await recorded({ sampler, ratio: 0 }, 'none'), 0);
      }
      assert.equal(await recorded({ sampler: 'parentbased_traceidratio', ratio: 0 }, 'recorded'), all);
      assert.equal(await recorded({ sampler: 'traceidratio', ratio: 0 }, 'recorded'), 0);
    });

    it('are configured by the environment', async () => {
      const receiver = await startCollector();
      const database = await createTestDatabase();
      const folder = await mkdtemp(path.join(tmpdir(), 'docket-traces-'));
      try {
        const service = await startService({
          DOCKET_DATA_DIR: folder,
          DATABASE_URL: database.url,
          DOCKET_PORT: '0',
          OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
          OTEL_TRACES_SAMPLER: 'parentbased_always_off',
        });
        try {
          for (const traceparent of [PARENTS.recorded, PARENTS.unrecorded, '']) {
            const answer = await fetch(`${service.url}/api/v1/objects`, { headers: { traceparent } });
            assert.equal(answer.status, 401);
          }
        } finally {
          await service.stop();
        }
        const servers = spansIn(receiver.raw).filter(({ kind }) => kind === SERVER);
        assert.deepEqual(
          servers.map((one) => [one.traceId, one.parentSpanId]),
          [[traceId, 'b7ad6b7169203331']],
        );
      } finally {
        await database.drop();
        await rm(folder, { recursive: true, force: true });
        await new Promise((resolve) => receiver.server.close(resolve));
      }
    });
  });

  it('load no tracing code if tracing is off', () => {
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ resolve: (specifier, context, next) => { loaded.push(specifier); return next(specifier, context); } });
      await import(${JSON.stringify(new URL('../src/cli/serve.ts', import.meta.url).href)});
      console.log(JSON.stringify(loaded.filter((name) => /opentelemetry\\/(?!api$)|traces-otel/.test(name))), loaded.length > 100);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.equal(stdout.trim(), '[] true', stderr);
  });
});

/** `/metrics` is correct, cheap and contains no record data; dashboard and alerts use only existing metrics. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { givePlaces } from '../src/platform/journal/places.ts';
import sql from 'sql-template-tag';
import { dispatchAll } from './support/dispatch-all.ts';
import { parse } from 'yaml';
import { DatabaseMetrics } from '../src/platform/observability/database-metrics.ts';
import { MODULES } from '../src/modules.ts';
import { collect } from '../src/platform/module.ts';
import { replicaGauges } from '../src/platform/database/module.ts';
import { mergeMetrics } from '../src/http/metrics.ts';
import { type RecordFixture, startRecordFixture } from './support/record-fixture.ts';
import { lintMetrics } from './support/metrics-lint.ts';

const CANARY = 'zanzibarcanary';

/** What a scrape has more where a replica is configured; `replica.db.test.ts` holds it against a real one. */
const REPLICA_GAUGES = replicaGauges({
  metrics: () => ({
    state: 'used',
    reads: { replica: 0, primary: 0, failed: 0 },
    waits: 0,
    waitedMs: 0,
    behindBytes: 0,
    behindMs: 0,
  }),
});
const REPLICA = REPLICA_GAUGES.map(({ name, labels = {} }) => {
  const said = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return said.length === 0 ? name : `${name}{${said.join(',')}}`;
});

let fixture: RecordFixture;

async function scrape(): Promise<string> {
  const answer = await fixture.app.request('GET', '/metrics');
  assert.equal(answer.status, 200);
  return answer.body as string;
}

/** Name with labels → value. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

/** Queried from the database now, bypassing the cache. */
async function metrics(): Promise<Map<string, number>> {
  const { db } = fixture.app;
  const values = await new DatabaseMetrics({
    db,
    clock: { now: () => Date.now() },
    metrics: collect(MODULES, 'metrics'),
  }).read();
  return new Map(values.map(({ name, value }) => [name, value]));
}

describe('metrics', () => {
  before(async () => {
    fixture = await startRecordFixture({ searchMemory: 50_000_000 });
    const { id } = await fixture.make({ title: `${CANARY} title`, note: `${CANARY} note`, secret: CANARY });
    await fixture.ok('chief', 'POST', `/objects/${id}/comments`, { body: `${CANARY} comment`, visibility: 'public' });
    await fixture.call('chief', 'GET', `/search?q=${CANARY}`);
    await fixture.call('stranger', 'GET', `/objects/${id}`);
    await fixture.app.request('GET', `/${CANARY}`, { key: CANARY });
    await fixture.app.request('GET', `/api/v1/objects/${CANARY}`, { headers: { 'x-correlation-id': CANARY } });
  });
  after(() => fixture.close());

  it('contain no data of records, requests or keys', async () => {
    const text = await scrape();
    assert.ok(!text.toLowerCase().includes(CANARY));
    for (const key of Object.values(fixture.keys)) assert.ok(!text.includes(key.slice(0, 12)));
    assert.ok(!/[0-9a-f]{8}-[0-9a-f]{4}-/.test(text), 'no ids');
  });

  it('have a help text and a type for each name and only numeric samples', async () => {
    const text = await scrape();
    const names = new Set([...samplesOf(text).keys()].map((name) => name.replace(/\{.*/, '')));
    for (const name of names) {
      const family = name.replace(/_(?:bucket|sum|count)$/, '');
      assert.ok(text.includes(`# TYPE ${family} `) && text.includes(`# HELP ${family} `), name);
    }
    for (const [name, value] of samplesOf(text)) assert.ok(Number.isFinite(value), name);
    for (const { name } of collect(MODULES, 'metrics')) assert.ok(names.has(name), name);
  });

  it('are checked by rules that find what promtool finds', () => {
    const head = (name: string, type: string): string => `# HELP ${name} Something.\n# TYPE ${name} ${type}\n`;
    const bad: readonly (readonly [text: string, problem: string])[] = [
      ['# TYPE a gauge\na 1', 'a: no help text'],
      ['# HELP a Something.\na 1', 'a: no type'],
      [`${head('a', 'counter')}a 1`, 'a: a counter ends with _total'],
      [`${head('a_total', 'gauge')}a_total 1`, 'a_total: only a counter ends with _total'],
      [`${head('a', 'gauge')}a{quantile="0.5"} 1`, 'a: only a summary has the label quantile'],
      [`${head('a', 'gauge')}a{le="1"} 1`, 'a: only a histogram has the label le'],
      [`${head('a_count', 'gauge')}a_count 1`, 'a_count: only a histogram or a summary ends with _count'],
      [`${head('a_milliseconds', 'gauge')}a_milliseconds 1`, 'a_milliseconds: use the base unit seconds'],
      [`${head('a_ms', 'gauge')}a_ms 1`, 'a_ms: spell the unit ms out'],
      [`${head('a_gauge', 'gauge')}a_gauge 1`, 'a_gauge: the name holds the type gauge'],
      [`${head('aB', 'gauge')}aB 1`, 'aB: use lower case with underscores'],
      [`${head('a', 'gauge')}a 1\na 2`, 'a: occurs twice'],
      [`${head('a', 'gauge')}a 1\n${head('b', 'gauge')}b 1\na{c="d"} 1`, 'a: its samples do not stand together'],
      [`${head('a', 'gauge')}${head('a', 'gauge')}a 1`, 'a: described twice'],
    ];
    for (const [text, problem] of bad) assert.deepEqual(lintMetrics(text), [problem]);
  });

  it('pass the rules of "promtool check metrics"', async () => {
    const replica = REPLICA.map((sample) => `${sample} 0`);
    const described = REPLICA_GAUGES.flatMap(({ name, help, type = 'gauge' }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
    ]);
    const text = await scrape();
    assert.deepEqual(lintMetrics(text), []);
    assert.deepEqual(lintMetrics([...new Set(described), ...replica].join('\n')), []);
    const merged = mergeMetrics(['api-1', 'worker-1'].map((process) => ({ process, text })));
    assert.deepEqual(lintMetrics(merged), []);
  });

  it('cover all names and labels of the dashboard and the alerts', async () => {
    const samples = [...samplesOf(await scrape()).keys(), ...REPLICA];
    const names = new Set(samples.map((name) => name.replace(/\{.*/, '')));
    const dashboard = JSON.parse(await readFile(new URL('../deploy/grafana/docket.json', import.meta.url), 'utf8')) as {
      panels: { title: string; targets: { expr: string }[] }[];
    };
    const alerts = parse(await readFile(new URL('../deploy/prometheus/alerts.yml', import.meta.url), 'utf8')) as {
      groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
    };
    const rules = alerts.groups.flatMap((group) => group.rules);
    const asked = [
      ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr }))),
      ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
    ];
    assert.ok(asked.length >= 40);
    const used = new Set<string>();
    for (const { where, expr } of asked) {
      for (const [, name = '', matchers = ''] of expr.matchAll(
        /\b((?:docket|process|nodejs)_[a-z_]+)(?:\{([^}]*)\})?/g,
      )) {
        used.add(name);
        assert.ok(names.has(name), `${where} asks for ${name}`);
        for (const [, label = ''] of matchers.matchAll(/([a-z]+)\s*(?:=~|!~|!=|=)/g)) {
          const known =
            ['job', 'instance'].includes(label) ||
            samples.some((one) => one.startsWith(`${name}{`) && one.includes(`${label}="`));
          assert.ok(known, `${where} asks for the label ${label} of ${name}`);
        }
      }
    }
    // Nothing is measured without a scrape.
    const families = [...names].filter((name) => !/_(?:bucket|sum|count)$/.test(name));
    assert.deepEqual(
      families.filter((name) => !used.has(name)),
      [],
    );
    const guide = await readFile(new URL('../docs/how-to/monitor.md', import.meta.url), 'utf8');
    for (const { alert } of rules)
      assert.ok(guide.includes(`\`${alert}\``), `docs/how-to/monitor.md says what to do about ${alert}`);
  });

  it('count events', async () => {
    const read = async (name: string): Promise<number> => samplesOf(await scrape()).get(name) ?? 0;
    const requests = 'docket_http_requests_total{operation="objects.create",status="201"}';
    const times = 'docket_http_request_duration_seconds_bucket{le="300",operation="objects.create",status="201"}';
    const before = await read(requests);
    assert.ok(before >= 1);
    assert.equal(await read(times), before);
    const hits = await read('docket_rights_cache_total{result="hit"}');
    await fixture.make({ title: 'another' });
    assert.equal(await read(requests), before + 1);
    assert.ok((await read('docket_rights_cache_total{result="hit"}')) > hits);
  });

  it('report queue lengths and ages', async () => {
    const { db } = fixture.app;
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    await dispatchAll(db, { now: () => Date.now() });
    const none = await metrics();
    assert.deepEqual([none.get('docket_dispatch_pending'), none.get('docket_dispatch_lag_seconds')], [0, 0]);
    await db.query(sql`
      INSERT INTO journal (id, type, at, via, hash)
      SELECT gen_random_uuid(), 'T', ${hourAgo}::timestamptz, 'api', '\\x00' FROM generate_series(1, 10050)`);
    await db.query(sql`
      INSERT INTO webhook_deliveries (id, subscription_id, event_id, event_type, event_at, event_seq, event_data, max_attempts, base_delay_ms,
        created_at, due_at, lease)
      SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'T', now(), 0, '{}', 3, 1, now(),
        now() + make_interval(secs => d.due), d.lease
      FROM (VALUES (-600, NULL), (-60, NULL), (60, gen_random_uuid()), (90, NULL)) AS d (due, lease)`);
    const found = await metrics();
    const near = (name: string, seconds: number): void => {
      const value = found.get(name) ?? Number.NaN;
      assert.ok(Math.abs(value - seconds) < 60, `${name} is ${value}`);
    };
    for (const metric of ['docket_dispatch', 'docket_notifications']) {
      assert.equal(found.get(`${metric}_pending`), 10_000);
      near(`${metric}_lag_seconds`, 3600);
    }
    assert.equal(found.get('docket_deliveries_due'), 2);
    assert.equal(found.get('docket_deliveries_leased'), 1);
    assert.equal(found.get('docket_deliveries_pending'), 4);
    near('docket_delivery_lag_seconds', 600);
    assert.ok((found.get('docket_audit_unsealed_rows') ?? 0) > 0);
    assert.equal(found.get('docket_database_up'), 1);
    assert.ok((found.get('docket_feed_pending') ?? 0) > 0 && (found.get('docket_feed_lag_seconds') ?? 0) > 0);
    while (await givePlaces(db));
    const placed = await metrics();
    assert.deepEqual([placed.get('docket_feed_pending'), placed.get('docket_feed_lag_seconds')], [0, 0]);
    await fixture.make({ title: 'without a place' });
    assert.equal((await metrics()).get('docket_feed_pending'), 1);
  });

  it('query the database once for many scrapes, and work without it', async () => {
    let asked = 0;
    let broken = false;
    const db = {
      query: async <Row>(statement: Parameters<typeof fixture.app.db.query>[0]): Promise<Row[]> => {
        asked++;
        if (broken) throw new Error('the database is away');
        return await fixture.app.db.query<Row>(statement);
      },
    };
    const many = new DatabaseMetrics({ db, clock: { now: () => Date.now() }, metrics: collect(MODULES, 'metrics') });
    const answers = await Promise.all(Array.from({ length: 50 }, () => many.read()));
    await many.read();
    assert.equal(asked, 1);
    assert.ok(answers.every((values) => values.length === collect(MODULES, 'metrics').length + 1));
    broken = true;
    const away = new DatabaseMetrics({ db, clock: { now: () => Date.now() }, metrics: collect(MODULES, 'metrics') });
    assert.deepEqual(
      (await away.read()).map(({ name, value }) => [name, value]),
      [['docket_database_up', 0]],
    );
    const silent = new DatabaseMetrics({
      db: { query: () => new Promise<never>(() => {}) },
      clock: { now: () => Date.now() },
      metrics: collect(MODULES, 'metrics'),
    });
    assert.equal((await silent.read())[0]?.value, 0);
  });
});

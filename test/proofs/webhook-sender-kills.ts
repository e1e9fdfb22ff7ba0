/**
 * At least once: events are made while processes that send them are killed without a word and receivers fail three times in
 * ten; then what arrived is held against what the rules allow.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TEST_KEY } from '../support/app.ts';
import { type WebhookFixture, startWebhookFixture, type Subscribing } from '../support/webhook-fixture.ts';
import { type Answer, isSigned } from '../support/receiver.ts';
import type { SenderOptions } from './webhook-sender-process.ts';

export interface KillingOptions {
  events: number;
  kills: number;
  /** Milliseconds between kills, at most. */
  pauseMs: number;
  limitMs: number;
  leaseMs: number;
  /** Time limit after the last process has started. */
  patienceMs: number;
  say(line: string): void;
}

export interface KillingReport {
  expected: number;
  requests: number;
  /** Deliveries that were answered with success more than once. */
  duplicates: number;
  problems: string[];
}

const SENDER = fileURLToPath(new URL('webhook-sender-process.ts', import.meta.url));
const SENDERS = 2;
/** More failures than this no delivery meets by intent: of its ten attempts some are for what a busy machine does. */
const MAX_FAILURES = 3;

async function startSender(options: SenderOptions): Promise<ChildProcess> {
  const child = spawn(process.execPath, [SENDER, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`a sender ended with ${code} before it was ready`)));
  });
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

interface Made {
  id: string;
  kind: string;
  title: string;
}

/** Five subscriptions and which records each may hear of. */
const SUBSCRIPTIONS: readonly { code: string; input: Subscribing; allows(made: Made): boolean }[] = [
  { code: 'all-1', input: {}, allows: () => true },
  { code: 'all-2', input: {}, allows: () => true },
  { code: 'all-3', input: { eventTypes: ['ObjectUpdated', 'ObjectCreated'] }, allows: () => true },
  { code: 'limited', input: { as: 'limited' }, allows: ({ kind }) => kind === 'a' },
  {
    code: 'filtered',
    input: { filters: { types: ['thing'], condition: { field: 'title', operator: 'contains', value: 'keep' } } },
    allows: ({ title }) => title.includes('keep'),
  },
];

/** Fails three times in ten, in four ways, but no delivery permanently. */
function fickle(): { answer(deliveryId: string): Answer; succeeded: Map<string, number> } {
  const failures = new Map<string, number>();
  const succeeded = new Map<string, number>();
  return {
    succeeded,
    answer: (deliveryId) => {
      const failed = failures.get(deliveryId) ?? 0;
      if (Math.random() < 0.3 && failed < MAX_FAILURES) {
        failures.set(deliveryId, failed + 1);
        const ways: Answer[] = [{ status: 500 }, { status: 429 }, 'reset', { status: 503, delayMs: 50 }];
        return ways[Math.floor(Math.random() * ways.length)] ?? 'reset';
      }
      succeeded.set(deliveryId, (succeeded.get(deliveryId) ?? 0) + 1);
      return { status: 200 };
    },
  };
}

/** Makes a record for certain: what a busy database refused, or left in doubt, is asked again under the same id. */
async function make(fixture: WebhookFixture, values: { kind: string; title: string }): Promise<Made> {
  const id = randomUUID();
  for (;;) {
    const { status, body } = await fixture.call('boss', 'POST', '/objects', {
      typeDefinitionId: 'thing',
      objectId: id,
      values,
    });
    if (status === 201 || body.error.code === 'ALREADY_EXISTS') return { id, ...values };
    if (status !== 503) throw new Error(`${status} ${JSON.stringify(body)}`);
    await sleep(200);
  }
}

async function makeAll(fixture: WebhookFixture, count: number, done: Made[]): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (next < count) {
        const turn = next++;
        const values = { kind: turn % 3 === 0 ? 'b' : 'a', title: turn % 2 === 0 ? `keep ${turn}` : `leave ${turn}` };
        done.push(await make(fixture, values));
      }
    }),
  );
}

async function settled(fixture: WebhookFixture, patienceMs: number): Promise<boolean> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const [row] = await fixture.rows<{ open: number }>(
      `SELECT ((SELECT (SELECT count(*) FROM journal) - place FROM journal_consumers WHERE name = 'webhooks')
        + (SELECT count(*) FROM webhook_deliveries WHERE status = 'PENDING'))::int AS open`,
    );
    if (row?.open === 0) return true;
    if (performance.now() > until) return false;
    await sleep(100);
  }
}

/** Problems of the received deliveries. */
async function oracle(
  fixture: WebhookFixture,
  made: readonly Made[],
  succeeded: ReadonlyMap<string, number>,
): Promise<KillingReport> {
  const problems: string[] = [];
  const expected = new Set<string>();
  for (const { code, allows } of SUBSCRIPTIONS) {
    for (const record of made) if (allows(record)) expected.add(`${code} ${record.id}`);
  }
  const ids = new Map<string, string>();
  const arrived = new Set<string>();
  for (const request of fixture.receiver.received) {
    const { deliveryId, data } = request.body;
    const pair = `${request.path.slice(1)} ${data.objectId}`;
    if (!isSigned(fixture.secret, request)) problems.push(`${pair}: the signature is wrong`);
    if (request.headers['x-itsm-delivery'] !== deliveryId) problems.push(`${pair}: header and body differ`);
    if (!expected.has(pair)) problems.push(`${pair}: not allowed`);
    if ((ids.get(pair) ?? deliveryId) !== deliveryId) problems.push(`${pair}: more than one delivery id`);
    ids.set(pair, deliveryId);
    if (succeeded.has(deliveryId)) arrived.add(pair);
  }
  for (const pair of expected) if (!arrived.has(pair)) problems.push(`${pair}: lost`);
  const states = await fixture.rows<{ status: string; n: number }>(
    'SELECT status, count(*)::int AS n FROM webhook_deliveries GROUP BY status',
  );
  const count = (status: string): number => states.find((row) => row.status === status)?.n ?? 0;
  if (count('DELIVERED') !== expected.size) {
    problems.push(`${count('DELIVERED')} noted of ${expected.size}`);
    const failed = await fixture.rows<{ said: string }>(
      `SELECT d.id || ': ' || string_agg(concat_ws(' ', a.number, a.status, a.error, a.duration_ms || ' ms'), '; ' ORDER BY a.number) AS said
      FROM webhook_deliveries d JOIN webhook_attempts a ON a.delivery_id = d.id
      WHERE d.status NOT IN ('DELIVERED', 'SKIPPED') GROUP BY d.id LIMIT 3`,
    );
    problems.push(...failed.map(({ said }) => said));
  }
  const hushed = made.length * SUBSCRIPTIONS.length - expected.size;
  if (count('SKIPPED') !== hushed) problems.push(`${count('SKIPPED')} skipped of ${hushed}`);
  const duplicates = [...succeeded.values()].filter((times) => times > 1).length;
  return { expected: expected.size, requests: fixture.receiver.received.length, duplicates, problems };
}

export async function killSenders(options: KillingOptions): Promise<KillingReport> {
  const fixture = await startWebhookFixture({ idle: true });
  const children: ChildProcess[] = [];
  try {
    const { answer, succeeded } = fickle();
    fixture.receiver.answer = ({ body }) => answer(body.deliveryId);
    const origin = fixture.receiver.url.replace(/\/hook$/, '');
    for (const { code, input } of SUBSCRIPTIONS) {
      const retryPolicy = { maxAttempts: 10, baseDelayMs: 20 };
      await fixture.subscribe({ ...input, code, retryPolicy, endpoint: `${origin}/${code}` });
    }
    const { limitMs, leaseMs } = options;
    const { ca } = fixture.receiver;
    const start = () => startSender({ databaseUrl: fixture.app.databaseUrl, ca, key: TEST_KEY, limitMs, leaseMs });
    for (let turn = 0; turn < SENDERS; turn++) children.push(await start());
    const made: Made[] = [];
    const making = makeAll(fixture, options.events, made);
    for (let turn = 0; turn < options.kills; turn++) {
      await sleep(options.pauseMs * Math.random());
      const at = turn % children.length;
      await kill(children[at] as ChildProcess);
      children[at] = await start();
      if (turn % 10 === 9)
        options.say(`${turn + 1} killed, ${made.length} events, ${fixture.receiver.received.length} requests`);
    }
    await making;
    options.say(`${made.length} events are made`);
    const done = await settled(fixture, options.patienceMs);
    const report = await oracle(fixture, made, succeeded);
    if (!done) report.problems.unshift('not everything was settled in time');
    return report;
  } finally {
    await Promise.all(children.map(kill));
    await fixture.close();
  }
}

/** Five subscriptions and their receiver, which verifies deliveries and counts every event once. */
import { createServer } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Docket, type Event, verifyWebhook } from '../../client/src/index.ts';
import { makeCertificate } from '../../test/support/certificate.ts';

interface Subscription {
  code: string;
  eventTypes: Event['eventType'][];
  filters?: { condition: { field: string; operator: string; value: string } };
}

const LIFE: Event['eventType'][] = ['ObjectCreated', 'ObjectUpdated', 'ObjectTransitioned'];

/** Realistic subscriptions to incidents. */
export const SUBSCRIPTIONS: readonly Subscription[] = [
  { code: 'cmdb', eventTypes: ['ObjectCreated'] },
  { code: 'board', eventTypes: ['ObjectUpdated', 'ObjectTransitioned'] },
  { code: 'clock', eventTypes: ['SlaStarted', 'SlaPaused', 'SlaResumed', 'SlaStopped', 'SlaRecalculated'] },
  { code: 'alarm', eventTypes: ['SlaWarning', 'SlaBreached'] },
  {
    code: 'critical',
    eventTypes: LIFE,
    filters: { condition: { field: 'priority', operator: 'equals', value: 'p1' } },
  },
];

/** Subscription and kind of event → how many. */
export type Counts = Map<string, number>;

export interface Receiver {
  /** PEM of the authority that its certificate is of. */
  ca: string;
  port: number;
  counts: Counts;
  /** Repeated deliveries, and requests with an invalid signature. */
  repeated: number;
  refused: number;
  /** The current time of the service's clock, which its signatures use. */
  now: () => number;
  secret: string;
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function startReceiver(): Promise<Receiver> {
  const certificate = makeCertificate(['127.0.0.1']);
  const known = new Set<string>();
  const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, (request, response) => {
    const take = async (): Promise<number> => {
      const body = await bodyOf(request);
      const given = { secrets: self.secret, headers: request.headers, body, now: self.now() };
      const event = await verifyWebhook(given).catch(() => undefined);
      if (event === undefined) {
        self.refused++;
        return 401;
      }
      if (known.has(event.deliveryId)) self.repeated++;
      else {
        known.add(event.deliveryId);
        const name = `${request.url?.slice(1)} ${event.eventType}`;
        self.counts.set(name, (self.counts.get(name) ?? 0) + 1);
      }
      return 204;
    };
    take().then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  const self: Receiver = {
    ca: certificate.cert,
    port: address.port,
    counts: new Map(),
    repeated: 0,
    refused: 0,
    now: Date.now,
    secret: '',
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}

/** Subscribes the receiver five times, under one signing secret. */
export async function subscribe(
  service: { url: string; key: string; adminKey: string },
  receiver: Receiver,
): Promise<void> {
  const docket = new Docket(service);
  const { admin } = new Docket({ url: service.url, key: service.adminKey });
  receiver.secret = (await admin.secrets.create({ code: 'receiver' })).secret;
  const executor = (await admin.config.list('users')).find(({ code }) => code === 'monitoring');
  for (const { code, ...rest } of SUBSCRIPTIONS) {
    await docket.webhooks.create({
      ...rest,
      code,
      endpoint: `https://127.0.0.1:${receiver.port}/${code}`,
      secretRef: 'receiver',
      executionPrincipalId: executor?.id ?? '',
      retryPolicy: { maxAttempts: 5, baseDelayMs: 200 },
    });
  }
}

/** The events that each subscription must receive according to the histories. */
export function expectedCounts(lives: readonly { priority: string; events: readonly string[] }[]): Counts {
  const counts: Counts = new Map();
  for (const { priority, events } of lives) {
    for (const { code, eventTypes, filters } of SUBSCRIPTIONS) {
      // A filter applies to the record as it is when the event is sent: here, in its final state.
      if (filters !== undefined && filters.condition.value !== priority) continue;
      const taken = new Set<string>(eventTypes);
      for (const type of events) {
        if (taken.has(type)) counts.set(`${code} ${type}`, (counts.get(`${code} ${type}`) ?? 0) + 1);
      }
    }
  }
  return counts;
}

const sum = (counts: Counts): number => counts.values().reduce((all, one) => all + one, 0);

/** Waits until everything has arrived or nothing more arrives. @returns problems as text */
export async function awaitCounts(receiver: Receiver, expected: Counts): Promise<string[]> {
  const total = sum(expected);
  for (let quiet = 0, before = -1; sum(receiver.counts) < total && quiet < 300; ) {
    await sleep(100);
    quiet = sum(receiver.counts) === before ? quiet + 1 : 0;
    before = sum(receiver.counts);
  }
  const problems = [...new Set([...expected.keys(), ...receiver.counts.keys()])].flatMap((name) => {
    const [came, wanted] = [receiver.counts.get(name) ?? 0, expected.get(name) ?? 0];
    return came === wanted ? [] : [`${name}: ${came} came, not ${wanted}`];
  });
  if (receiver.refused > 0) problems.push(`${receiver.refused} requests were not to be believed`);
  return problems;
}

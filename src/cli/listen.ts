/**
 * `docket webhooks listen`: forwards events to a receiver that is being developed, in requests like those of a webhook. It reads
 * the changes feed with a key, so a subscription, a public address and https are not needed.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CursorRewound,
  Docket,
  DocketError,
  type FeedEvent,
  type FeedPage,
  Forbidden,
} from '../../client/src/index.ts';
import { recordData, requestOf, sentData, shownSecret, type SignedRequest } from '../domain/webhooks/index.ts';
import { instant, newId, systemClock } from '../platform/clock.ts';
import type { Outcome } from '../platform/outbound/outbound.ts';
import { secretBytes } from '../platform/secrets.ts';
import { type Json, printable, warn } from './command.ts';
import { explained, type Remote } from './remote.ts';

/** Time limit of a request, as for deliveries. */
const LIMIT_MS = 10_000;
/** How long the service waits for an event before it answers with an empty page, in seconds. */
const WAIT_S = 25;
const PATIENCE = { totalMs: 30_000 };
/** Delay before the feed is read again after an error. */
const RECONNECT_MS = 1000;

export interface ListenOptions extends Json {
  /** URL of the receiver. */
  forward: string;
  /** Ids or codes of record types, separated by commas. */
  types?: string;
  /** Event types, separated by commas. */
  events?: string;
  secretFile?: string;
}

/** The signing secret in a file. @throws Error if the file holds none */
export async function readSecret(file: string): Promise<string> {
  const secret = (await readFile(file, 'utf8')).trim();
  if (!/^whsec_[\w+/=]+$/.test(secret)) throw new Error(`${file} holds no signing secret (whsec_ and base64).`);
  return secret;
}

/** Sends a request to any URL, also on this machine. Redirects are not followed. */
export async function post(
  url: string,
  { headers, body }: SignedRequest,
  stop = new AbortController().signal,
): Promise<Outcome> {
  const began = performance.now();
  const took = (): number => Math.round(performance.now() - began);
  try {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(LIMIT_MS)]);
    const sent = { method: 'POST', headers, body: new Uint8Array(body), redirect: 'manual', signal } as const;
    const response = await fetch(url, sent);
    const answer = Buffer.from(await response.arrayBuffer());
    const retryAfter = response.headers.get('retry-after') ?? undefined;
    return { kind: 'answered', status: response.status, durationMs: took(), body: answer, retryAfter };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return { kind: 'failed', reason: `no answer: ${cause?.code ?? message}`, durationMs: took() };
  }
}

/** The problem with the URL of a receiver; undefined if there is none. Values of records go unencrypted only within this machine. */
export function forwardProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:') return undefined;
  if (url?.protocol !== 'http:') return `${text} is not a URL with http or https.`;
  if (/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) return undefined;
  return `${url.host} is another machine: give a URL with https, or one of localhost.`;
}

/**
 * Forwards events from now on, one after the other in their order, until the signal is aborted. Each event is sent once; there
 * are no further attempts.
 *
 * @throws Error if the service does not accept the key or the filters
 */
export async function listen(remote: Remote, options: ListenOptions, stop: AbortSignal): Promise<void> {
  const secret = options.secretFile === undefined ? shownSecret(secretBytes(32)) : await readSecret(options.secretFile);
  const json = options.json === true;
  const say = (value: object, lines: readonly string[]): void => {
    for (const line of json ? [JSON.stringify(value)] : lines) process.stdout.write(`${line}\n`);
  };
  let [forwarded, refused] = [0, 0];
  const started = (): void =>
    say({ url: remote.url, forward: options.forward, secret }, [
      `Forwarding events of ${remote.url} to ${options.forward}. Stop with Ctrl C.`,
      options.secretFile === undefined
        ? `Signing secret of this run: ${secret}`
        : `Signing secret: that of ${options.secretFile}`,
    ]);
  for await (const { docket, event } of follow(remote, options, started, stop)) {
    const at = instant(systemClock.now());
    const { eventId, eventType, occurredAt } = event;
    const delivery = { deliveryId: newId(), eventId, eventType, occurredAt, data: await dataOf(docket, event, stop) };
    const outcome = await post(options.forward, requestOf([secret], delivery, at), stop);
    if (stop.aborted) break;
    forwarded++;
    const status = outcome.kind === 'answered' ? outcome.status : null;
    if (status === null || status < 200 || status > 299) refused++;
    const error = outcome.kind === 'answered' ? {} : { error: outcome.reason };
    const durationMs = outcome.kind === 'refused' ? 0 : outcome.durationMs;
    const subject = event.object?.number ?? event.objectId ?? String(delivery.data['code']);
    const { deliveryId } = delivery;
    say({ at, deliveryId, eventId, eventType, objectId: event.objectId ?? null, status, durationMs, ...error }, [
      printable(`${at}  ${eventType}  ${subject}  ${status ?? error.error}  ${durationMs} ms`),
    ]);
  }
  say({ forwarded, refused }, [`Stopped: ${forwarded} forwarded, ${refused} of them not accepted.`]);
}

/** `data` of the delivery. The comment is read as it is now, as for each attempt of a delivery. */
async function dataOf(docket: Docket, event: FeedEvent, stop: AbortSignal): Promise<Record<string, unknown>> {
  const eventData = sentData(event.data);
  const { objectId, object } = event;
  if (objectId === undefined || object === undefined) return eventData;
  const { commentId } = eventData;
  if (typeof commentId !== 'string') return recordData(object, eventData, undefined);
  // The record can have left the sight of the key since.
  const comments = await docket.comments.list(objectId, {}, { signal: stop, patience: PATIENCE }).catch(() => []);
  const found = comments.find(({ id }) => id === commentId);
  if (found === undefined) return recordData(object, eventData, undefined);
  const { id, revision, body, visibility } = found;
  return recordData(object, eventData, { id, revision, body, visibility });
}

/** Yields the events that the key may read, and goes on after the last one when the service is gone for a while. */
async function* follow(
  remote: Remote,
  { types, events }: ListenOptions,
  started: () => void,
  stop: AbortSignal,
): AsyncGenerator<{ docket: Docket; event: FeedEvent }, void, undefined> {
  const query = { ...(types === undefined ? {} : { types }), ...(events === undefined ? {} : { eventTypes: events }) };
  const read = async (docket: Docket, after: string, wait: number): Promise<FeedPage> =>
    await docket.feed.read({ ...query, after, wait, include: 'object' }, { signal: stop });
  let docket = clientOf(remote);
  let first: FeedPage;
  try {
    first = await read(docket, 'now', 0).catch(async (error: unknown) => {
      if (!(error instanceof Forbidden) || error.code !== 'SCOPE_MISSING') throw error;
      // A key with admin:manage alone.
      docket = clientOf(remote, 'admin');
      return await read(docket, 'now', 0).catch(() => {
        throw error;
      });
    });
  } catch (error) {
    if (stop.aborted) return;
    throw explained(error, remote, undefined, 'objects:read');
  }
  started();
  let after = first.next;
  let isConnected = true;
  while (!stop.aborted) {
    let page: FeedPage;
    try {
      page = await read(docket, after, WAIT_S);
    } catch (error) {
      if (stop.aborted) return;
      if (error instanceof CursorRewound) {
        warn('events were lost by a restore or a failover of the service; going on behind them.');
        after = error.resume;
        continue;
      }
      if (isFinal(error)) throw explained(error, remote, undefined, 'objects:read');
      if (isConnected) warn(`${remote.url} does not answer (${(error as Error).message}); trying again.`);
      isConnected = false;
      const asked = error instanceof DocketError ? (error.retryAfterMs ?? 0) : 0;
      await sleep(Math.max(RECONNECT_MS, asked), undefined, { signal: stop }).catch(() => {});
      continue;
    }
    if (!isConnected) warn('connected again; no event was left out.');
    isConnected = true;
    for (const event of page.events) yield { docket, event };
    after = page.next;
  }
}

function clientOf({ url, key }: Remote, surface?: 'admin'): Docket {
  const fetched: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'manual' });
  return new Docket({
    url,
    key,
    fetch: fetched,
    patience: { totalMs: 0 },
    ...(surface === undefined ? {} : { surface }),
  });
}

/** Whether another attempt cannot succeed. */
function isFinal(error: unknown): boolean {
  return error instanceof DocketError && error.status < 500 && error.status !== 429;
}

/** Clients that go on whatever happens to the service, and remember what they were told. */
import { setTimeout as sleep } from 'node:timers/promises';

/** A repeatable source of numbers from 0 to 1, so that a failing run can be repeated by its seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface LoadAnswer {
  status: number;
  headers: Headers;
  body: { data?: Record<string, unknown>; error?: { code: string } };
}

const TRY_MS = 8000;

/** One try; undefined when no answer came, so that nobody knows what happened. */
export async function attempt(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<LoadAnswer | undefined> {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TRY_MS),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as LoadAnswer['body'] };
  } catch {
    return undefined;
  }
}

/** What one record should be, as far as its only client was told. */
export interface Expected {
  key: string;
  id: string;
  revision: number;
  title: string;
}

export interface Journal {
  records: Expected[];
  /** Answers that no fault of process or database excuses. */
  surprises: string[];
  acknowledged: number;
  /** Refusals while the database was away, and the slowest of them in milliseconds. */
  refused: number;
  slowest: number;
}

export interface LoadOptions {
  url: string;
  key: string;
  typeCode: string;
  /** Distinguishes this client's keys and texts. */
  name: string;
  random: () => number;
  journal: Journal;
  running: () => boolean;
  /** No more once the service is given up: what is under way then stays without an answer. */
  patient: () => boolean;
}

const PASSING = new Set(['DATABASE_UNAVAILABLE', 'OVERLOADED', 'IDEMPOTENCY_IN_PROGRESS']);

/** Creates with a key, each retried until answered, and changes of the own records, each re-read when nobody answered. */
export async function runClient(options: LoadOptions): Promise<void> {
  const { journal, random: next } = options;
  const own: Expected[] = [];
  for (let turn = 0; options.running() || turn === 0; turn++) {
    const chosen = own[Math.floor(next() * own.length)];
    if (chosen === undefined || next() < 0.4) {
      const made = await createUntilAnswered(options, `${options.name}-${turn}`);
      if (made !== undefined) {
        own.push(made);
        journal.records.push(made);
      }
    } else await change(options, chosen, `${chosen.key} ${turn}`);
  }
}

function note(options: LoadOptions, what: string, answer: LoadAnswer, ms: number): void {
  const code = answer.body.error?.code ?? '';
  const { journal } = options;
  if (!PASSING.has(code)) journal.surprises.push(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
  if (answer.headers.get('retry-after') === null) journal.surprises.push(`${what}: ${code} without Retry-After`);
  journal.refused++;
  journal.slowest = Math.max(journal.slowest, ms);
}

async function createUntilAnswered(options: LoadOptions, key: string): Promise<Expected | undefined> {
  const body = { typeDefinitionId: options.typeCode, values: { title: key, tag: key } };
  while (options.patient()) {
    const began = performance.now();
    const answer = await attempt(options.url, options.key, 'POST', '/api/v1/objects', body, { 'idempotency-key': key });
    if (answer?.status === 201) {
      options.journal.acknowledged++;
      return { key, id: String(answer.body.data?.['id']), revision: 1, title: key };
    }
    if (answer !== undefined) note(options, `create ${key}`, answer, performance.now() - began);
    if (answer !== undefined && answer.status < 500 && answer.status !== 409) return undefined;
    await sleep(20 + options.random() * 60);
  }
  options.journal.surprises.push(`create ${key} was never answered`);
  return undefined;
}

/** One change. Without an answer it may have happened or not, and the record says which. */
async function change(options: LoadOptions, record: Expected, title: string): Promise<void> {
  const path = `/api/v1/objects/${record.id}`;
  const body = { expectedRevision: record.revision, changes: { title } };
  const began = performance.now();
  const answer = await attempt(options.url, options.key, 'PATCH', path, body);
  if (answer?.status === 200) {
    options.journal.acknowledged++;
    record.revision++;
    record.title = title;
    if (answer.body.data?.['revision'] !== record.revision)
      options.journal.surprises.push(`change of ${record.key}: revision`);
    return;
  }
  if (answer !== undefined) note(options, `change of ${record.key}`, answer, performance.now() - began);
  while (options.patient()) {
    const found = await attempt(options.url, options.key, 'GET', path);
    if (found?.status === 200) {
      const revision = Number(found.body.data?.['revision']);
      const stands = String(found.body.data?.['title']);
      const kept = revision === record.revision && stands === record.title;
      const made = revision === record.revision + 1 && stands === title;
      if (!kept && !made)
        options.journal.surprises.push(`${record.key} is at ${revision} "${stands}" after "${title}"`);
      record.revision = revision;
      record.title = stands;
      return;
    }
    if (found !== undefined && found.status < 500) {
      options.journal.surprises.push(`read of ${record.key}: ${found.status} ${JSON.stringify(found.body)}`);
      return;
    }
    await sleep(20 + options.random() * 60);
  }
  options.journal.surprises.push(`read of ${record.key} was never answered`);
}

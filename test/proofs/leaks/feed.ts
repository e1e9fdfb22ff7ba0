/**
 * Follows the changes feed of two services that differ only in hidden data and in the number of hidden events. Pages, what
 * cursors lead to, waits and streams of the restricted caller must be equal.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { givePlaces } from '../../../src/platform/journal/places.ts';
import type { TestAnswer } from '../../support/app.ts';
import { readEvents } from '../../support/event-stream.ts';
import type { RandomSource } from '../fuzz/random-source.ts';
import { HIDDEN_MARKER, type LeakFixture, SHOWN } from './fixture.ts';

/** The same position in both services; undefined for the beginning. */
type CursorPair = readonly [string | undefined, string | undefined];

interface Seen {
  text: string;
  /** Of each event, then `next`. */
  cursors: string[];
}

const WAIT_MS = 1000;
const QUIET_MS = 400;
const KINDS = [
  'ObjectCreated',
  'ObjectUpdated',
  'CommentAdded',
  'AttachmentAdded',
  'RelationAdded',
  'ArticlePublished',
];

/** The answer without what may differ: the cursors. */
function seenIn(fixture: LeakFixture, answer: TestAnswer): Seen {
  const cursors: string[] = [];
  const body = structuredClone(answer.body);
  for (const event of body.data?.events ?? []) {
    cursors.push(event.cursor);
    event.cursor = `a cursor of ${event.cursor.length} characters`;
  }
  if (body.data?.next !== undefined) {
    cursors.push(body.data.next);
    body.data.next = `a cursor of ${body.data.next.length} characters`;
  }
  const text = fixture.comparable({ ...answer, body });
  // Every hidden value contains a marker that no response may contain, even if both sides agree.
  return { text: text.includes(HIDDEN_MARKER) ? `${text} IN ${fixture.app.url}` : text, cursors };
}

export class FeedComparison {
  readonly #sides: readonly [LeakFixture, LeakFixture];
  readonly #random: RandomSource;
  readonly #cursors: CursorPair[] = [[undefined, undefined]];
  readonly #records: number;
  readonly differences: string[] = [];
  steps = 0;

  constructor(sides: readonly [LeakFixture, LeakFixture], records: number, random: RandomSource) {
    this.#sides = sides;
    this.#records = records;
    this.#random = random;
  }

  /** Pages and writes in random order, and now and then a wait or a stream. */
  async run(steps: number): Promise<void> {
    await this.#place();
    // That the comparison can fail: who reads everything sees the difference.
    const [left, right] = await this.#both(
      async (side) => seenIn(side, await this.#read(side, 'limit=1000', 'chief')).text,
    );
    assert.notEqual(left, right);
    for (; this.steps < steps && this.differences.length < 5; this.steps++) {
      const turn = this.steps % 25;
      if (turn === 8) await this.#compareWaits();
      else if (turn === 16) await this.#compareStreams();
      else if (this.#random.below(6) === 0) await this.#write();
      else await this.#comparePages(this.#query());
    }
    // Whatever happened, everything after every cursor is equal at the end.
    await this.#comparePages('limit=1000', [undefined, undefined]);
  }

  async #both<T>(run: (side: LeakFixture, index: 0 | 1) => Promise<T>): Promise<[T, T]> {
    return await Promise.all([run(this.#sides[0], 0), run(this.#sides[1], 1)]);
  }

  async #place(): Promise<void> {
    await this.#both(async ({ app }) => {
      while (await givePlaces(app.db));
    });
  }

  async #read(side: LeakFixture, query: string, who: 'low' | 'chief' = 'low'): Promise<TestAnswer> {
    for (;;) {
      const answer = await side.app.request('GET', `/api/v1/changes?${query}`, { key: side.keys[who] });
      // Overload errors reveal nothing.
      if (answer.status !== 503) return answer;
    }
  }

  #query(): string {
    const random = this.#random;
    const query = new URLSearchParams({ limit: String(random.pick([1, 2, 5, 30, 1000])) });
    if (random.once(3)) query.set('eventTypes', KINDS.filter(() => random.once(2)).join() || 'ObjectUpdated');
    if (random.once(4)) query.set('types', random.pick(['ticket', 'vault', 'none']));
    if (random.once(3)) query.set('include', 'object');
    return query.toString();
  }

  #after(query: string, cursor: string | undefined): string {
    return cursor === undefined ? query : `${query}&after=${cursor}`;
  }

  #judge(what: string, [mine, theirs]: readonly [Seen, Seen]): void {
    if (mine.text !== theirs.text) this.differences.push(`${what}\n  ${mine.text}\n  ${theirs.text}`);
    else for (const [index, cursor] of mine.cursors.entries()) this.#cursors.push([cursor, theirs.cursors[index]]);
  }

  async #comparePages(query: string, cursors = this.#random.pick(this.#cursors)): Promise<void> {
    const seen = await this.#both(async (side, index) =>
      seenIn(side, await this.#read(side, this.#after(query, cursors[index]))),
    );
    this.#judge(`GET /changes?${query}`, seen);
  }

  /** A change that the restricted caller sees, and hidden ones of another number on each side. */
  async #write(): Promise<void> {
    const word = this.#random.pick(SHOWN);
    const at = this.#random.below(this.#records);
    const counts = [this.#random.below(4), this.#random.below(4)] as const;
    await this.#both(async (side, index) => {
      await this.#hide(side, at, counts[index]);
      const id = side.readable[at % side.readable.length] as string;
      const { revision } = await side.ok('GET', `/objects/${id}`);
      const changes = { title: `${word} ${this.steps}`, hush: `${HIDDEN_MARKER} ${counts[index]}` };
      await side.ok('PATCH', `/objects/${id}`, { expectedRevision: revision, changes });
      await this.#hide(side, at, counts[1 - index] as number);
    });
    await this.#place();
  }

  /** Events that the restricted caller does not see. */
  async #hide(side: LeakFixture, at: number, count: number): Promise<void> {
    const id = side.readable[at % side.readable.length] as string;
    for (let turn = 0; turn < count; turn++)
      await side.ok('POST', `/objects/${id}/comments`, { body: `${HIDDEN_MARKER} ${turn}`, visibility: 'internal' });
  }

  /** The newest position that both sides have in common. */
  async #newest(): Promise<CursorPair> {
    const seen = await this.#both(async (side) => seenIn(side, await this.#read(side, 'after=now')));
    this.#judge('GET /changes?after=now', seen);
    return [seen[0].cursors[0], seen[1].cursors[0]];
  }

  /** Hidden events during a wait change neither its answer nor its length; a visible one ends it. */
  async #compareWaits(): Promise<void> {
    const cursors = await this.#newest();
    const at = this.#random.below(this.#records);
    const quiet = await this.#both(async (side, index) => {
      const began = performance.now();
      const waiting = this.#read(side, this.#after('wait=1', cursors[index]));
      await sleep(WAIT_MS / 4);
      if (index === 0) await this.#hide(side, at, 3);
      while (await givePlaces(side.app.db));
      const seen = seenIn(side, await waiting);
      if (performance.now() - began < WAIT_MS - 10) this.differences.push(`a wait ended too early: ${seen.text}`);
      return seen;
    });
    this.#judge('a wait with hidden events', quiet);
    const reading = this.#both(async (side, index) =>
      seenIn(side, await this.#read(side, this.#after('wait=20', quiet[index]?.cursors[0]))),
    );
    await this.#write();
    this.#judge('a wait with a visible event', await reading);
  }

  /** A stream sends the same events, and its last id leads to the same. */
  async #compareStreams(): Promise<void> {
    const cursors = this.#random.pick(this.#cursors);
    const streams = await this.#both(async (side, index) => {
      const response = await fetch(`${side.app.url}/api/v1/changes?limit=1000`, {
        headers: {
          authorization: `Bearer ${side.keys.low}`,
          accept: 'text/event-stream',
          ...(cursors[index] === undefined ? {} : { 'last-event-id': cursors[index] }),
        },
      });
      return { response, events: readEvents(response) };
    });
    await this.#write();
    const seen = await this.#both(async (side, index) => {
      const { response, events } = streams[index] as (typeof streams)[0];
      const found: unknown[] = [];
      for (let event = await events.next(5000); event !== undefined; event = await events.next(QUIET_MS))
        found.push(JSON.parse(event.data));
      const last = events.lastId();
      events.close();
      const { status } = response;
      return seenIn(side, {
        status,
        headers: new Headers(),
        body: { data: { events: found, next: last } },
      } as TestAnswer);
    });
    this.#judge('a stream', seen);
  }
}

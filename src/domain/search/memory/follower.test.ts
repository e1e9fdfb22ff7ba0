import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SegmentFiles } from './files.ts';
import { MemoryFollower } from './follower.ts';
import type { RecordSource, Seen } from './record-source.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { IndexedDocument } from './segment.ts';

const RECORDS = 8;
const idOf = (n: number): string => `0000000${n}-0000-7000-8000-00000000000a`;

/** What happens in the database: a transaction begins, writes or archives a record, commits, or is rolled back. */
type Event =
  | { kind: 'begin' }
  | { kind: 'write'; transaction: number; record: number; archived: boolean }
  | { kind: 'end'; transaction: number; committed: boolean };

interface Transaction {
  id: number;
  /** Record → its new version; null if it is archived. */
  writes: Map<string, number | null>;
}

/** A database with the visibility of PostgreSQL. Events happen between the statements of a reader. */
class FakeDatabase implements RecordSource {
  readonly records = new Map<string, number>();
  epoch = 'first';
  readonly #pending: Event[];
  readonly #open: Transaction[] = [];
  readonly #journal: Transaction[] = [];
  #lastId = 0;
  #version = 0;

  constructor(events: readonly Event[]) {
    this.#pending = [...events];
  }

  /** The next events happen. */
  pass(count: number): void {
    for (const event of this.#pending.splice(0, count)) this.#happen(event);
  }

  #happen(event: Event): void {
    if (event.kind === 'begin') {
      this.#open.push({ id: ++this.#lastId, writes: new Map() });
      return;
    }
    const chosen = this.#open[event.transaction % Math.max(1, this.#open.length)];
    if (chosen === undefined) return;
    if (event.kind === 'write') {
      const id = idOf(event.record);
      // A record that another transaction has locked is not written.
      if (this.#open.some((other) => other !== chosen && other.writes.has(id))) return;
      chosen.writes.set(id, event.archived ? null : ++this.#version);
      return;
    }
    this.#open.splice(this.#open.indexOf(chosen), 1);
    if (!event.committed) return;
    this.#journal.push(chosen);
    for (const [id, version] of chosen.writes) {
      if (version === null) this.records.delete(id);
      else this.records.set(id, version);
    }
  }

  #snapshot(): Seen {
    const running = this.#open.map(({ id }) => id);
    return { snapshot: JSON.stringify({ max: this.#lastId + 1, running }), epoch: this.epoch, storage: 'here' };
  }

  async seenNow(): Promise<Seen> {
    const seen = this.#snapshot();
    this.pass(1);
    return seen;
  }

  async load(_columns: ReadonlySet<string>, after: { at: string; id: string } | null, limit: number) {
    const sorted = [...this.records].sort(([, a], [, b]) => b - a);
    const page = sorted.filter(([, version]) => after === null || version < Number(after.at)).slice(0, limit);
    const last = page.at(-1);
    this.pass(1);
    return {
      documents: page.map(([id, version]) => documentOf(id, version)),
      next: last === undefined ? null : { at: String(last[1]), id: last[0] },
    };
  }

  async versions(after: string | null, limit: number) {
    const sorted = [...this.records].sort(([a], [b]) => (a < b ? -1 : 1));
    const page = sorted.filter(([id]) => after === null || id > after).slice(0, limit);
    this.pass(1);
    return page.map(([id, version]) => documentOf(id, version));
  }

  async changesSince({ snapshot }: Seen, limit: number) {
    const { max, running } = JSON.parse(snapshot) as { max: number; running: number[] };
    const since = this.#journal.filter(({ id }) => id >= max || running.includes(id));
    const ids = [...new Set(since.flatMap(({ writes }) => [...writes.keys()]))].slice(0, limit);
    const found = { ...this.#snapshot(), ids };
    this.pass(1);
    return found;
  }

  async read(_columns: ReadonlySet<string>, ids: readonly string[]) {
    const documents = ids.flatMap((id) => {
      const version = this.records.get(id);
      return version === undefined ? [] : [documentOf(id, version)];
    });
    this.pass(1);
    return documents;
  }
}

function documentOf(id: string, version: number): IndexedDocument {
  const lexemes = new Map([['a', 'B']]);
  return { id, updatedAt: version, profileId: 1, size: version, versions: [version, 1], lexemes, values: new Map() };
}

/** Record → version, of everything in the index. */
function held(index: MemoryIndex): Map<string, number> {
  const found = new Map<string, number>();
  for (const { segment, deleted } of index.segments) {
    for (let doc = 0; doc < segment.count; doc++) {
      if (deleted.has(doc)) continue;
      assert.ok(!found.has(segment.id(doc)), 'a record is in the index once');
      found.set(segment.id(doc), segment.parts.sizes[doc] as number);
    }
  }
  return found;
}

const sorted = (records: ReadonlyMap<string, number>): [string, number][] =>
  [...records].sort(([a], [b]) => (a < b ? -1 : 1));

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.constant({ kind: 'begin' as const }),
  fc.record({
    kind: fc.constant('write' as const),
    transaction: fc.nat(3),
    record: fc.nat(RECORDS - 1),
    archived: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('end' as const),
    transaction: fc.nat(3),
    committed: fc.constantFrom(true, true, false),
  }),
);
const events = fc.array(event, { minLength: 60, maxLength: 150, size: 'max' });

describe('The index in memory follows committed records', () => {
  test('and has every change that was committed before a question, whatever order transactions end in', async () => {
    await fc.assert(
      fc.asyncProperty(
        events,
        fc.array(fc.nat(4), { minLength: 10, maxLength: 30, size: 'max' }),
        async (happening, pauses) => {
          const database = new FakeDatabase(happening);
          database.pass(20);
          const follower = new MemoryFollower(database, { bytes: 1e9, loaded: 2 });
          assert.equal(await follower.catchUp(), false, 'not loaded yet');
          while (await follower.loadStep());
          for (const pause of pauses) {
            database.pass(pause);
            const before = new Map(database.records);
            // The second one shares nothing with the first, which may read older records.
            assert.deepEqual(await Promise.all([follower.catchUp(), follower.catchUp()]), [true, true]);
            follower.index.mergeStep();
            const found = held(follower.index);
            // A record may have changed again meanwhile.
            for (const [id, version] of before) {
              if (database.records.get(id) === version) assert.equal(found.get(id), version, `${id} is missing`);
            }
            for (const [id, version] of found) assert.ok(version >= (before.get(id) ?? 0), `${id} is older`);
          }
          database.pass(happening.length);
          assert.ok(await follower.catchUp());
          assert.deepEqual(sorted(held(follower.index)), sorted(database.records));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('and questions that come during a read wait for one that begins afterwards', async () => {
    let reads = 0;
    const database = new FakeDatabase([]);
    const counting: RecordSource = {
      seenNow: () => database.seenNow(),
      load: (columns, after, limit) => database.load(columns, after, limit),
      read: (columns, ids) => database.read(columns, ids),
      versions: (after, limit) => database.versions(after, limit),
      changesSince: async (seen, limit) => {
        reads++;
        await new Promise(setImmediate);
        return await database.changesSince(seen, limit);
      },
    };
    const follower = new MemoryFollower(counting, { bytes: 1e9 });
    while (await follower.loadStep());
    const first = follower.catchUp();
    await Promise.all([first, follower.catchUp(), follower.catchUp(), follower.catchUp()]);
    assert.equal(reads, 2, 'three questions share a read');
    await follower.catchUp();
    assert.equal(reads, 3);
  });

  test('and reads everything again if the server was started again, and gives up above its limit', async () => {
    const database = new FakeDatabase([]);
    for (let n = 0; n < RECORDS; n++) database.records.set(idOf(n), n + 1);
    const follower = new MemoryFollower(database, { bytes: 1e9 });
    while (await follower.loadStep());
    assert.equal(follower.index.documents, RECORDS);
    // The server lost a change without a trace.
    database.epoch = 'second';
    database.records.delete(idOf(0));
    assert.equal(await follower.catchUp(), false);
    assert.equal(follower.state, 'loading');
    while (await follower.loadStep());
    assert.equal(await follower.catchUp(), true);
    assert.equal(follower.index.documents, RECORDS - 1);
    // A question needs the values of another field.
    follower.addColumns([]);
    assert.equal(follower.state, 'ready');
    follower.addColumns(['kind']);
    assert.deepEqual([follower.state, follower.index.documents, await follower.catchUp()], ['loading', 0, false]);
    while (await follower.loadStep());
    assert.deepEqual([follower.index.documents, await follower.catchUp()], [RECORDS - 1, true]);

    const small = new MemoryFollower(database, { bytes: 100 });
    while (await small.loadStep());
    assert.deepEqual([small.state, small.index.bytes, await small.catchUp()], ['too-large', 0, false]);
  });

  test('and starts from the files of an earlier process, whatever changed since', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-segments-'));
    const start = async (database: FakeDatabase, columns: string[] = []): Promise<MemoryFollower> => {
      const files = new SegmentFiles(folder, 1);
      const follower = new MemoryFollower(database, { bytes: 1e9, loaded: 3, files }, columns);
      while (await follower.loadStep());
      assert.ok(await follower.catchUp());
      return follower;
    };
    try {
      await fc.assert(
        fc.asyncProperty(events, fc.array(fc.nat(30), { minLength: 3, maxLength: 8 }), async (happening, pauses) => {
          await rm(folder, { recursive: true, force: true });
          const database = new FakeDatabase(happening);
          for (const pause of pauses) {
            const follower = await start(database);
            database.pass(pause);
            assert.ok(await follower.catchUp());
            while (follower.index.mergeStep());
            await follower.save();
            await follower.save();
            assert.equal((await readdir(folder)).length, follower.index.segments.length);
            // While the process does not run.
            database.pass(pause % 7);
          }
          database.pass(happening.length);
          const last = await start(database);
          assert.deepEqual(sorted(held(last.index)), sorted(database.records));
          // A damaged file, one that was not finished, and those for other columns are deleted.
          await writeFile(path.join(folder, '00000000-0000-7000-8000-000000000001.segment'), 'DKS1');
          await writeFile(path.join(folder, '00000000-0000-7000-8000-000000000002.segment.new'), '');
          assert.deepEqual(sorted(held((await start(database, ['kind'])).index)), sorted(database.records));
          assert.deepEqual(await readdir(folder), []);
        }),
        { numRuns: 40 },
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('and reads only what changed since the files were written', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-segments-'));
    const database = new FakeDatabase([]);
    for (let n = 0; n < RECORDS; n++) database.records.set(idOf(n), n + 1);
    const started = async (): Promise<string[]> => {
      const read: string[] = [];
      const source: RecordSource = {
        seenNow: () => database.seenNow(),
        load: async (columns, after, limit) => {
          const page = await database.load(columns, after, limit);
          read.push(...page.documents.map(({ id }) => id));
          return page;
        },
        versions: (after, limit) => database.versions(after, limit),
        changesSince: (seen, limit) => database.changesSince(seen, limit),
        read: async (columns, ids) => {
          read.push(...ids);
          return await database.read(columns, ids);
        },
      };
      const follower = new MemoryFollower(source, { bytes: 1e9, files: new SegmentFiles(folder, 1) });
      while (await follower.loadStep());
      assert.deepEqual(sorted(held(follower.index)), sorted(database.records));
      await follower.save();
      return read;
    };
    try {
      assert.equal((await started()).length, RECORDS);
      assert.deepEqual(await started(), []);
      database.records.set(idOf(3), 100);
      database.records.delete(idOf(4));
      assert.deepEqual(await started(), [idOf(3)]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** The judge of the changes feed accepts right histories and names what is wrong in wrong ones. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type FeedHistoryEntry, judgeFeed, type SeenEvent } from './proofs/feed-history.ts';

function event(objectId: string, revision: number, eventType?: string): SeenEvent {
  const kind = eventType ?? (revision === 1 ? 'ObjectCreated' : 'ObjectUpdated');
  return { eventId: `${objectId}/${revision}/${kind}`, eventType: kind, objectId, revision };
}

const A1 = event('a', 1);
const A2 = event('a', 2);
const A3 = event('a', 3);
const SAID = event('a', 2, 'CommentAdded');
const B1 = event('b', 1);
const JOURNAL = [A1, B1, A2, SAID, A3];

function read(...events: SeenEvent[]): FeedHistoryEntry {
  return { kind: 'read', reader: 'r', events };
}

function acknowledged({ eventType, objectId, revision }: SeenEvent): FeedHistoryEntry {
  return { kind: 'acknowledged', eventType, objectId, ...(revision === null ? {} : { revision }) };
}

function rewound(lastEventId: string | null): FeedHistoryEntry {
  return { kind: 'rewound', reader: 'r', lastEventId };
}

/** The first words of what is wrong. */
function verdict(
  history: readonly FeedHistoryEntry[],
  journal: readonly SeenEvent[] = JOURNAL,
  readers: readonly string[] = ['r'],
): string {
  return judgeFeed(readers, history, journal)
    .map((problem) => problem.split(':')[0])
    .join(' ');
}

describe('the judge of the changes feed', () => {
  it('accepts all orders that keep the order of each record', () => {
    assert.equal(verdict([acknowledged(A1), read(A1, A2), acknowledged(B1), read(SAID, B1, A3)]), '');
    assert.equal(verdict([read(B1), read(), read(A1, A2, SAID, A3)]), '');
    assert.equal(verdict([{ kind: 'acknowledged', eventType: 'CommentAdded', objectId: 'a' }, read(...JOURNAL)]), '');
  });

  it('names what is lost, double, reordered, invented or altered', () => {
    assert.equal(verdict([read(A1, A2, SAID, A3)]), 'lost');
    assert.equal(verdict([read(A1, A2, SAID, B1), read(B1, A3)]), 'double reordered');
    assert.equal(verdict([read(A1, A3, B1, A2, SAID)]), 'reordered reordered');
    assert.equal(verdict([read(A1, B1, SAID, A2, A3)]), '', 'the order of events of one revision is free');
    assert.equal(verdict([read(...JOURNAL, event('c', 1))]), 'invented');
    assert.equal(verdict([read(A1, B1, A2, SAID, { ...A3, revision: 4 })]), 'altered');
    assert.equal(verdict([read(A1, B1, A2, SAID, A3, { ...A3, eventId: 'other' })]), 'invented reordered');
    const other: FeedHistoryEntry = { kind: 'read', reader: 's', events: [A1, B1, A2, SAID] };
    assert.equal(verdict([read(...JOURNAL), other], JOURNAL, ['r', 's']), 'lost');
    assert.equal(verdict([], JOURNAL), 'lost lost lost lost lost');
  });

  it('excuses what was acknowledged before a loss, and nothing else', () => {
    const gone = event('gone', 1);
    assert.equal(verdict([acknowledged(gone), read(...JOURNAL)]), 'unkept');
    const loss: FeedHistoryEntry = { kind: 'loss', since: 1 };
    assert.equal(verdict([acknowledged(A1), acknowledged(gone), loss, read(...JOURNAL)]), '');
    assert.equal(verdict([acknowledged(gone), acknowledged(A1), loss, read(...JOURNAL)]), 'unkept');
    assert.equal(verdict([acknowledged(A1), loss, acknowledged(gone), read(...JOURNAL)]), 'unkept');
  });

  it('drops what a reader read after the event that it was rewound to', () => {
    const loss: FeedHistoryEntry = { kind: 'loss', since: 0 };
    const gone = event('gone', 1);
    assert.equal(verdict([read(A1, B1, gone), loss, rewound(B1.eventId), read(A2, SAID, A3)]), '');
    assert.equal(verdict([read(A1, B1, gone), loss, rewound(null), read(...JOURNAL)]), '');
    assert.equal(verdict([read(A1, B1, gone), loss, read(A2, SAID, A3)]), 'invented');
    assert.equal(verdict([read(A1, B1, gone), loss, rewound(A1.eventId), read(A2, SAID, A3)]), 'lost');
    assert.equal(verdict([read(A1, B1, A2), loss, rewound(A1.eventId), read(B1, SAID, A3)]), 'lost');
    assert.equal(verdict([read(A1, B1, gone), loss, rewound('unknown'), read(...JOURNAL)]), 'rewound');
  });

  it('refuses a rewind without a loss', () => {
    const loss: FeedHistoryEntry = { kind: 'loss', since: 0 };
    assert.equal(verdict([read(A1, B1), rewound(B1.eventId), read(A2, SAID, A3)]), 'rewound');
    const twice = [read(A1, B1), loss, rewound(B1.eventId), rewound(B1.eventId), read(A2, SAID, A3)];
    assert.equal(verdict(twice), 'rewound');
  });

  it('refuses each random change of a right history', () => {
    const records = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(records, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 7 }), (lengths, seed, at, size) => {
        const left = lengths.map((count, index) => Array.from({ length: count }, (_, n) => event(`o${index}`, n + 1)));
        const all: SeenEvent[] = [];
        for (let turn = seed; left.some((rest) => rest.length > 0); turn = Math.imul(turn + 1, 2_654_435_761) >>> 0) {
          const next = left[turn % left.length]?.shift();
          if (next !== undefined) all.push(next);
        }
        const pages = (events: SeenEvent[]): FeedHistoryEntry[] =>
          events.flatMap((_, index) => (index % size === 0 ? [read(...events.slice(index, index + size))] : []));
        assert.equal(verdict(pages(all), all), '');
        const chosen = at % all.length;
        const one = all[chosen] as SeenEvent;
        assert.match(verdict(pages(all.toSpliced(chosen, 1)), all), /lost/);
        assert.match(verdict(pages(all.toSpliced(chosen, 0, one)), all), /double/);
        assert.match(verdict(pages(all), all.toSpliced(chosen, 1)), /invented/);
        const before = all.findLastIndex(({ objectId }, index) => index < chosen && objectId === one.objectId);
        if (before === -1) return;
        const swapped = all.toSpliced(chosen, 1, all[before] as SeenEvent).toSpliced(before, 1, one);
        assert.match(verdict(pages(swapped), all), /reordered/);
      }),
    );
  });
});

/**
 * Judges what readers of the changes feed saw. A run records its history: acknowledged writes, losses, and for each reader the
 * pages and rewinds, all in the order in which they happened. The journal at the end decides.
 */

/** An event as a reader got it, or as the journal holds it at the end. */
export interface SeenEvent {
  eventId: string;
  eventType: string;
  objectId: string;
  revision: number | null;
}

export type FeedHistoryEntry =
  /** The service answered a write with success. Without a revision any event of that kind counts. */
  | { kind: 'acknowledged'; eventType: string; objectId: string; revision?: number }
  | { kind: 'read'; reader: string; events: readonly SeenEvent[] }
  /** The reader dropped what it read after the event; everything if it is null. */
  | { kind: 'rewound'; reader: string; lastEventId: string | null }
  /** Writes that were acknowledged since the entry of this index can be gone: a restored backup, a failover with loss. */
  | { kind: 'loss'; since: number };

/** Kinds of events that raise the revision of a record, each once in a change. */
const CHANGES = new Set(['ObjectCreated', 'ObjectUpdated', 'ObjectTransitioned', 'ObjectArchived']);

function named({ eventType, objectId, revision }: SeenEvent): string {
  return `${eventType} of ${objectId}, revision ${revision}`;
}

/** @returns one line per violation, each beginning with its kind */
export function judgeFeed(
  readers: readonly string[],
  history: readonly FeedHistoryEntry[],
  journal: readonly SeenEvent[],
): string[] {
  const problems = judgeAcknowledged(history, journal);
  for (const reader of readers) {
    const found: string[] = [];
    const kept = keptBy(reader, history, found);
    found.push(...compareWithJournal(kept, journal), ...judgeOrder(kept));
    problems.push(...found.map((problem) => `${problem} (${reader})`));
  }
  return problems;
}

/** The acknowledged writes that the journal does not hold, although nothing excuses it. */
function judgeAcknowledged(history: readonly FeedHistoryEntry[], journal: readonly SeenEvent[]): string[] {
  const excused = history.map(() => false);
  for (const [index, entry] of history.entries()) if (entry.kind === 'loss') excused.fill(true, entry.since, index);
  const key = (eventType: string, objectId: string, revision: number | null | undefined): string =>
    `${eventType} of ${objectId}${revision === undefined ? '' : `, revision ${revision}`}`;
  const stored = new Set(
    journal.flatMap(({ eventType, objectId, revision }) => [
      key(eventType, objectId, revision),
      key(eventType, objectId, undefined),
    ]),
  );
  return history.flatMap((entry, index) => {
    if (entry.kind !== 'acknowledged' || excused[index] === true) return [];
    const wanted = key(entry.eventType, entry.objectId, entry.revision);
    return stored.has(wanted) ? [] : [`unkept: acknowledged, but not in the journal: ${wanted}`];
  });
}

/** What the reader holds at the end. */
function keptBy(reader: string, history: readonly FeedHistoryEntry[], problems: string[]): SeenEvent[] {
  let kept: SeenEvent[] = [];
  let isLossOpen = false;
  for (const entry of history) {
    if (entry.kind === 'loss') isLossOpen = true;
    if (!('reader' in entry) || entry.reader !== reader) continue;
    if (entry.kind === 'read') {
      kept.push(...entry.events);
      continue;
    }
    if (!isLossOpen) problems.push('rewound: the reader was rewound although nothing was lost since its last rewind');
    isLossOpen = false;
    const last = kept.findIndex(({ eventId }) => eventId === entry.lastEventId);
    if (entry.lastEventId !== null && last === -1)
      problems.push(`rewound: to the event ${entry.lastEventId}, which the reader does not hold`);
    kept = kept.slice(0, last + 1);
  }
  return kept;
}

function compareWithJournal(kept: readonly SeenEvent[], journal: readonly SeenEvent[]): string[] {
  const problems: string[] = [];
  const stored = new Map(journal.map((event) => [event.eventId, event]));
  const seen = new Set<string>();
  for (const event of kept) {
    const there = stored.get(event.eventId);
    if (seen.has(event.eventId)) problems.push(`double: ${named(event)}`);
    else if (there === undefined) problems.push(`invented: ${named(event)}`);
    else if (named(there) !== named(event)) problems.push(`altered: ${named(event)}; the journal has ${named(there)}`);
    seen.add(event.eventId);
  }
  for (const event of journal) if (!seen.has(event.eventId)) problems.push(`lost: ${named(event)}`);
  return problems;
}

/** The revisions of a record never fall, and each change has a higher one than the change before. */
function judgeOrder(kept: readonly SeenEvent[]): string[] {
  const problems: string[] = [];
  const reached = new Map<string, { any: number; change: number }>();
  for (const event of kept) {
    if (event.revision === null) continue;
    const before = reached.get(event.objectId) ?? { any: 0, change: 0 };
    const isChange = CHANGES.has(event.eventType);
    if (event.revision < before.any || (isChange && event.revision <= before.change))
      problems.push(`reordered: ${named(event)}, after revision ${before.any}`);
    reached.set(event.objectId, {
      any: Math.max(before.any, event.revision),
      change: isChange ? Math.max(before.change, event.revision) : before.change,
    });
  }
  return problems;
}

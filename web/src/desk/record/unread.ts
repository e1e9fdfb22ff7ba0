/** The comments that the user has not seen, by the time of the newest one seen on this device. */
import { useEffect, useState } from 'react';
import type { RecordComment } from '../../api/types.ts';
import { useSession } from '../../app/session.ts';

const PREFIX = 'docket.seen.';
/** Records that are remembered for a user. */
const MAX = 500;
/** Comments count as seen after this time in milliseconds. */
const SEEN_AFTER = 3000;

type Seen = Record<string, string>;

function readSeen(userId: string): Seen {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + userId) ?? '{}') as Seen;
  } catch {
    return {};
  }
}

/** Without storage, nothing is unread. */
function writeSeen(userId: string, recordId: string, at: string): void {
  try {
    const { [recordId]: _, ...others } = readSeen(userId);
    const kept = Object.entries({ ...others, [recordId]: at }).slice(-MAX);
    localStorage.setItem(PREFIX + userId, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    return;
  }
}

/**
 * The unread comments of others, newest first. They are those since the last visit, and stay the same during this visit. On
 * the first visit to a record nothing is unread.
 */
export function useUnread(recordId: string, newest: readonly RecordComment[] | undefined): RecordComment[] {
  const { user } = useSession();
  const userId = user.id ?? '';
  const [since] = useState(() => readSeen(userId)[recordId]);
  const last = newest === undefined ? undefined : (newest[0]?.createdAt ?? new Date(0).toISOString());
  useEffect(() => {
    if (last === undefined) return undefined;
    const timer = setTimeout(() => writeSeen(userId, recordId, last), SEEN_AFTER);
    return () => clearTimeout(timer);
  }, [userId, recordId, last]);
  if (since === undefined || newest === undefined) return [];
  return newest.filter(({ createdAt, author }) => createdAt > since && author?.id !== userId);
}

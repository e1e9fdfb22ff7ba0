/** The first stage: turns events in the outbox into deliveries, one for each subscription that takes the event. */
import { type Clock, instant, newId } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/pool.ts';
import { drainOutbox } from '../../platform/journal/journal.ts';
import { insertDeliveries, matchEvents } from './store-delivery.ts';

const BATCH = 1000;

/**
 * Processes one batch of events. An event leaves the outbox in the transaction that writes its deliveries, so a crash neither
 * loses nor duplicates them.
 *
 * @returns how many deliveries were made, and whether there may be more events
 */
export async function dispatchEvents(db: Database, clock: Clock): Promise<{ made: number; more: boolean }> {
  let made = 0;
  const taken = await drainOutbox(db, BATCH, async (events, tx) => {
    const matched = await matchEvents(tx, events);
    if (matched.length === 0) return;
    const byId = new Map(events.map((event) => [event.event_id, event]));
    const at = instant(clock.now());
    const rows = matched.flatMap(({ eventId, subscriptionId, eventData, maxAttempts, baseDelayMs }) => {
      const event = byId.get(eventId);
      if (event === undefined) return [];
      return {
        id: newId(),
        subscription_id: subscriptionId,
        event_id: eventId,
        event_type: event.type,
        object_id: event.object_id,
        event_at: event.at,
        event_seq: event.journal_seq,
        event_data: eventData,
        max_attempts: maxAttempts,
        base_delay_ms: baseDelayMs,
        at,
      };
    });
    made = rows.length;
    await insertDeliveries(tx, rows);
  });
  return { made, more: taken === BATCH };
}

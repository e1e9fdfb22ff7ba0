/** The first stage: a consumer of the journal that turns events into deliveries, one for each subscription that takes the event. */
import { type Clock, instant, newId } from '../../platform/clock.ts';
import type { Database, Transaction } from '../../platform/database/pool.ts';
import { type Batch, consume } from '../../platform/journal/consumers.ts';
import { insertDeliveries, matchEvents } from './store-dispatch.ts';

/** The name of the consumer. */
export const DISPATCH = 'webhooks';
const BATCH = 1000;

/**
 * Processes one batch of events. The consumer moves on in the transaction that writes the deliveries, so a crash neither loses nor
 * duplicates them.
 *
 * @returns how many deliveries were made, and whether there may be more events
 */
export async function dispatchEvents(db: Database, clock: Clock): Promise<{ made: number; more: boolean }> {
  let made = 0;
  const more = await consume(db, DISPATCH, BATCH, async (batch, tx) => {
    made = await makeDeliveries(tx, clock, batch);
  });
  return { made, more };
}

/**
 * Makes the deliveries of events that they do not have.
 *
 * @param events a batch, or the numbers of events
 * @returns how many subscriptions take the events
 */
export async function makeDeliveries(
  tx: Transaction,
  clock: Clock,
  events: Batch | readonly number[],
): Promise<number> {
  const matched = await matchEvents(tx, events);
  const at = instant(clock.now());
  if (matched.length > 0)
    await insertDeliveries(
      tx,
      matched.map((event) => ({ ...event, id: newId(), at })),
    );
  return matched.length;
}

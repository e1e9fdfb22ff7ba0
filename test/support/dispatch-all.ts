/** Makes the deliveries of all committed events, as the background tasks do. */
import { dispatchEvents } from '../../src/domain/webhooks/dispatch.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/pool.ts';
import { givePlaces } from '../../src/platform/journal/places.ts';

export async function dispatchAll(db: Database, clock: Clock): Promise<void> {
  while (await givePlaces(db));
  while ((await dispatchEvents(db, clock)).more);
}

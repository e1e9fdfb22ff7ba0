/**
 * The changes feed: all events in one order without gaps, for programs that mirror, index or react. It reads the places that
 * `platform/journal/places.ts` gives to committed journal rows, and owns no table.
 *
 * Invariants:
 * - After a cursor, no event that the caller may see is skipped, and none comes twice.
 * - The statement that selects events applies the caller's current rights, before it limits them.
 * - Cursors reveal nothing: every caller may use any cursor.
 */
import { defineModule } from '../module.ts';
import { feedRoutes } from './routes.ts';

export const feed = defineModule({
  name: 'feed',
  // Rights on comments and articles are part of the statement that selects events.
  dependsOn: ['objects', 'comments', 'attachments', 'knowledge', 'metadata'],
  operations: feedRoutes,
});

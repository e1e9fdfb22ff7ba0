/**
 * The long form of `src/domain/search/leaks.db.test.ts`: more records, 10,000 questions a person.
 *
 *     npm run test:search-leaks
 */
import { describe, it } from 'node:test';
import { compareSides } from './search-leaks-parts.ts';

describe('search on two services that differ only in hidden data', () => {
  it('responds equally to a caller without some fields', async () => {
    await compareSides({ who: 'agent', records: 300, queries: 10_000, seed: 101 });
  });

  it('responds equally to a caller without some records and fields', async () => {
    await compareSides({ who: 'north', records: 300, queries: 10_000, seed: 102 });
  });
});

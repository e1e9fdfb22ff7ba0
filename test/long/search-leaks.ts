/**
 * The long form of `src/domain/search/leaks.db.test.ts`: more records, 5,000 questions a person.
 *
 *     npm run test:twins
 */
import { describe, it } from 'node:test';
import { compareSides } from '../harness/search-leaks.ts';

describe('search on twins, at length', () => {
  it('answers one who lacks fields alike', async () => {
    await compareSides({ who: 'agent', records: 300, queries: 5000, seed: 101 });
  });

  it('answers one who lacks records and fields alike', async () => {
    await compareSides({ who: 'north', records: 300, queries: 5000, seed: 102 });
  });
});

/**
 * The long form of `src/domain/search/twins.db.test.ts`: more records, 5,000 questions a person.
 *
 *     npm run test:twins
 */
import { describe, it } from 'node:test';
import { compareTwins } from '../harness/search-twins.ts';

describe('search on twins, at length', () => {
  it('answers one who lacks fields alike', async () => {
    await compareTwins({ who: 'agent', records: 300, queries: 5000, seed: 101 });
  });

  it('answers one who lacks records and fields alike', async () => {
    await compareTwins({ who: 'north', records: 300, queries: 5000, seed: 102 });
  });
});

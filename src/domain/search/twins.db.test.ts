import { describe, it } from 'node:test';
import { compareTwins } from '../../../test/harness/search-twins.ts';

describe('search on twins that differ in hidden values alone', () => {
  it('answers one who lacks fields alike', async () => {
    await compareTwins({ who: 'agent', records: 70, queries: 150, seed: 7 });
  });

  it('answers one who lacks records and fields alike', async () => {
    await compareTwins({ who: 'north', records: 70, queries: 150, seed: 11 });
  });
});

import { describe, it } from 'node:test';
import { compareSides } from '../../../test/harness/search-leaks.ts';

describe('search on twins that differ in hidden values alone', () => {
  it('answers one who lacks fields alike', async () => {
    await compareSides({ who: 'agent', records: 70, queries: 150, seed: 7 });
  });

  it('answers one who lacks records and fields alike', async () => {
    await compareSides({ who: 'north', records: 70, queries: 150, seed: 11 });
  });
});

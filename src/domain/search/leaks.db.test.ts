import { describe, it } from 'node:test';
import { compareSides } from '../../../test/proofs/search-leaks-parts.ts';

describe('search on databases that differ only in hidden values', () => {
  it('gives equal answers to a caller without some field rights', async () => {
    await compareSides({ who: 'agent', records: 70, queries: 150, seed: 7 });
  });

  it('gives equal answers to a caller without some record and field rights', async () => {
    await compareSides({ who: 'north', records: 70, queries: 150, seed: 11 });
  });
});

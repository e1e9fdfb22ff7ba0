import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { watchAnswers } from '../../../test/harness/load-document.ts';
import { type SearchWorld, startSearchWorld } from '../../../test/harness/search-world.ts';

describe('search by words', () => {
  let world: SearchWorld;
  let watch: ReturnType<typeof watchAnswers>;
  before(async () => {
    world = await startSearchWorld();
    watch = watchAnswers(world.app);
  });
  after(async () => {
    await world.close();
  });

  it('finds a record by the next request after its write', async () => {
    await world.make({ title: 'Broken laptop screen' });
    assert.deepEqual(await world.titles('chief', { q: 'laptop' }), ['Broken laptop screen']);
  });
});

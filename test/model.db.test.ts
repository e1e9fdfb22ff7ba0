/**
 * Random calls of three callers, some of them two at one moment, compared with a reference model in memory
 * (`test/model/reference.ts`). A run that disagrees is made shorter before it is shown.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { checkModel, type ModelWorld, startModelWorld } from './model/run.ts';

const STEPS = 3000;

let world: ModelWorld;

describe('the reference model', () => {
  before(async () => {
    world = await startModelWorld();
  });
  after(() => world.app.close());

  it(`agrees with ${STEPS} random steps`, async () => {
    await checkModel(world, { steps: STEPS });
    assert.ok(world.steps >= STEPS && world.pairs > 0);
  });
});

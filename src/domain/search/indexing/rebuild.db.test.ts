import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bundle, stored } from '../../../../test/support/small-configuration.ts';
import {
  SEARCH_ROLES,
  SEARCH_TYPES,
  type SearchFixture,
  startSearchFixture,
} from '../../../../test/support/search-fixture.ts';
import { makeSearchParts } from '../index.ts';
import { migrateTypeBatch } from '../../objects/index.ts';
import { beginRebuild, compareProjection, projectMoved, stepRebuild } from '../index.ts';
import { profileView } from './profile.ts';

describe('the search index', () => {
  let world: SearchFixture;
  before(async () => {
    world = await startSearchFixture();
  });
  after(async () => {
    await world.close();
  });

  const parts = makeSearchParts();
  const begin = async (): Promise<{ done: number; resumed: boolean; total: number }> => {
    const result = await world.app.app.work.write(world.app.app.system(), beginRebuild);
    assert.equal(result.kind, 'done');
    return (result as { data: { done: number; resumed: boolean; total: number } }).data;
  };
  const step = async (): Promise<{ done: number; finished: boolean } | undefined> => {
    const result = await world.app.app.work.write(world.app.app.system(), (ctx) => stepRebuild(ctx, parts));
    return (result as { data: { done: number; finished: boolean } | undefined }).data;
  };
  const compare = (deep = true) =>
    world.app.app.work.read(world.app.app.system(), (ctx) => compareProjection(ctx, parts, deep));
  const whole = { missing: 0, stray: 0, different: [] };

  it('is rebuilt in steps that can be interrupted while records change', async () => {
    const items = Array.from({ length: 450 }, (_, index) => index);
    for (const index of items) await world.make({ title: `Item number${index} walrus` });
    const [changed] = await stored<{ id: string }>(world.app, 'SELECT id FROM objects ORDER BY id DESC LIMIT 1');
    assert.ok(changed !== undefined);
    await stored(world.app, 'TRUNCATE search_records');
    assert.equal((await world.search('chief', { q: 'walrus' })).body.data.total, 0);
    assert.equal((await compare()).missing, 450);

    assert.deepEqual(await begin(), { total: 450, done: 0, resumed: false });
    assert.deepEqual(await step(), { done: 200, finished: false });
    // Stopped here; the next start resumes.
    assert.deepEqual(await begin(), { total: 450, done: 200, resumed: true });
    assert.equal((await world.search('chief', { q: 'walrus' })).body.data.total, 200);
    await world.ok('chief', 'PATCH', `/objects/${changed.id}`, { expectedRevision: 1, changes: { title: 'Ocelot' } });
    assert.deepEqual(await world.titles('chief', { q: 'ocelot' }), ['Ocelot']);
    let steps = 0;
    for (let last = await step(); last !== undefined; last = await step()) steps++;
    assert.ok(steps >= 3);
    assert.equal((await world.search('chief', { q: 'walrus' })).body.data.total, 449);
    assert.deepEqual(await compare(), { ...whole, compared: 450 });
  });

  it('never overwrites a newer text', async () => {
    const id = await world.make({ title: 'Before the change' });
    await begin();
    const { work } = world.app.app;
    let changes = 0;
    for (let more = true; more; ) {
      const result = await work.write(world.app.app.system(), async (ctx) => {
        const made = await stepRebuild(ctx, parts);
        // The record is read by the step and changed before the step is written.
        changes++;
        const body = { expectedRevision: changes, changes: { title: `Changed platypus${changes}` } };
        await world.ok('chief', 'PATCH', `/objects/${id}`, body);
        return made;
      });
      more = result.kind === 'done' && result.data !== undefined;
    }
    assert.equal((await world.titles('chief', { q: `platypus${changes}` }))[0], `Changed platypus${changes}`);
    assert.deepEqual({ ...(await compare()), compared: 0 }, { ...whole, compared: 0 });
  });

  it('is compared with its source', async () => {
    const [a, b] = [await world.make({ title: 'One' }), await world.make({ title: 'Two', secret: 'deep' })];
    const comment = await world.ok('chief', 'POST', `/objects/${a}/comments`, {
      body: 'Three',
      visibility: 'internal',
    });
    const plant = async (statement: string, values: unknown[], expected: object): Promise<void> => {
      await stored(world.app, statement, values);
      assert.deepEqual({ ...(await compare()), compared: 0 }, { ...whole, ...expected, compared: 0 }, statement);
      assert.deepEqual({ ...(await compare(false)), compared: 0 }, { ...whole, ...expected, compared: 0 });
      await begin();
      while ((await step()) !== undefined);
      assert.deepEqual({ ...(await compare()), compared: 0 }, { ...whole, compared: 0 });
    };
    await plant(`UPDATE search_records SET words = words || 'planted:1'::tsvector WHERE id = $1`, [a], {
      different: [a],
    });
    // A hidden word without its field token would be found by all users.
    await plant(`UPDATE search_records SET words = 'deep:1 two:1A'::tsvector WHERE id = $1`, [b], { different: [b] });
    await plant(`UPDATE search_comments SET visibility = 'public' WHERE id = $1`, [comment.id], {
      different: [comment.id],
    });
    await plant('DELETE FROM search_records WHERE id = $1', [a], { missing: 1 });
    await plant('DELETE FROM search_comments WHERE id = $1', [comment.id], { missing: 1 });
    await plant(`INSERT INTO search_records VALUES (gen_random_uuid(), 1, 1, 'stray:1')`, [], { stray: 1 });
    await plant(`INSERT INTO search_comments VALUES (gen_random_uuid(), $1, 'public', now(), 1, 'stray:1')`, [a], {
      stray: 1,
    });
  });

  it('follows changes of roles: newly hidden text is hidden at once, readable text is always found', async () => {
    await world.make({ title: 'Pangolin', body: 'armadillo', hush: 'tapir', region: 'north' });
    const totals = async (q: string): Promise<number[]> => {
      const found: number[] = [];
      for (const who of ['chief', 'agent', 'north'] as const) {
        found.push((await world.search(who, { q })).body.data.total);
      }
      return found;
    };
    const background = async (): Promise<void> => {
      const loop = world.app.app.startWorker();
      await loop.runOnce();
      await loop.stop();
    };
    assert.deepEqual(await totals('armadillo'), [1, 1, 1]);
    assert.deepEqual(await totals('tapir'), [1, 0, 0]);

    const without = SEARCH_ROLES.replaceAll(' body,', '');
    await world.app.apply(bundle(without));
    assert.deepEqual(await totals('armadillo'), [1, 0, 0]);
    assert.deepEqual((await totals('tapir'))[0], 1);
    await background();
    assert.deepEqual(await totals('armadillo'), [1, 0, 0]);
    assert.deepEqual(await totals('pangolin'), [1, 1, 1]);
    assert.deepEqual(await totals('tapir'), [1, 0, 0]);

    await world.app.apply(bundle(SEARCH_ROLES.replaceAll('tags', 'tags, hush')));
    // The rows still contain field tokens; users who may read every field still find their words.
    assert.deepEqual((await totals('armadillo'))[0], 1);
    assert.deepEqual((await totals('tapir'))[0], 1);
    await background();
    assert.deepEqual(await totals('armadillo'), [1, 1, 1]);
    assert.deepEqual(await totals('tapir'), [1, 1, 1]);
    assert.deepEqual({ ...(await compare()), compared: 0 }, { ...whole, compared: 0 });
  });

  it('searches rows of the analysis before for every caller until they are rebuilt', async () => {
    const id = await world.make({ title: 'Tamandua', body: 'short', region: 'north' });
    const [of] = await stored<{ type_id: string; type_version: number }>(
      world.app,
      'SELECT type_id, type_version FROM objects WHERE id = $1',
      [id],
    );
    assert.ok(of !== undefined);
    const profile = await world.app.app.work.read(world.app.app.system(), async (ctx) =>
      ctx.config.get(profileView).of(of.type_id, of.type_version),
    );
    const before = [profile.usableId, id];
    await stored(world.app, `UPDATE search_records SET profile_id = $1, words = 'tamandua:1A' WHERE id = $2`, before);
    assert.deepEqual(await world.titles('north', { q: 'tamandua' }), ['Tamandua']);
    await begin();
    while ((await step()) !== undefined);
    const [row] = await stored(world.app, 'SELECT profile_id FROM search_records WHERE id = $1', [id]);
    assert.deepEqual(row, { profile_id: profile.id });
    assert.deepEqual((await compare()).different, []);
  });

  it('corrects typos of words that are not in the dictionary yet', async () => {
    await world.make({ title: 'Marmoset' });
    assert.deepEqual(await world.titles('chief', { q: 'marmoest' }), ['Marmoset']);
    const loop = world.app.app.startWorker();
    await loop.runOnce();
    await loop.stop();
    assert.deepEqual(await stored(world.app, 'SELECT 1 FROM search_pending_words'), []);
    assert.deepEqual(await world.titles('chief', { q: 'marmoest' }), ['Marmoset']);
  });

  it('follows a record to another version of its type', async () => {
    const id = await world.make({ title: 'Moves', plain: 'wombat' });
    assert.deepEqual(await world.titles('chief', { q: 'wombat' }), []);
    // The newer version indexes a field that the older one does not. The field is required, so this is a new version.
    const before = 'code: plain, dataType: string, search: { text: false }';
    const searched = SEARCH_TYPES.replace(before, 'code: plain, dataType: string, required: true, default: none');
    assert.notEqual(searched, SEARCH_TYPES);
    await world.app.apply(bundle(searched + SEARCH_ROLES));
    assert.deepEqual(await world.titles('chief', { q: 'wombat' }), []);
    const { work } = world.app.app;
    const moved: string[] = [];
    let next: string | null = null;
    do {
      const from: string | null = next;
      const done = await work.write(world.app.app.system(), async (ctx) => {
        const batch = await migrateTypeBatch(ctx, 'ticket', from);
        projectMoved(ctx, parts.analysis, batch.silently);
        return batch;
      });
      assert.ok(done.kind === 'done');
      moved.push(...done.data.silently.map((one) => one.id));
      ({ next } = done.data);
    } while (next !== null);
    assert.ok(moved.includes(id), 'its version is all that changed of it');
    assert.deepEqual(await world.titles('chief', { q: 'wombat' }), ['Moves']);
    assert.deepEqual((await compare()).different, []);
  });
});

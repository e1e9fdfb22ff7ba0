/** Rebuilds: one step at a time, each stored with its position; those of the release before continue after an upgrade. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { type SearchFixture, startSearchFixture } from '../../../test/support/search-fixture.ts';
import { stored } from '../../../test/support/small-configuration.ts';
import { readMigrations } from '../database/migrate.ts';
import type { WriteContext } from '../unit-of-work/context.ts';
import { findRebuild, type RebuildProgress, type RebuildStep, startRebuild, stepRebuild } from './rebuilds.ts';

describe('rebuilds', () => {
  let world: SearchFixture;
  before(async () => {
    world = await startSearchFixture();
  });
  after(async () => {
    await world.close();
  });

  const write = async <T>(fn: (ctx: WriteContext) => Promise<T>): Promise<T> => {
    const { work, system } = world.app.app;
    const result = await work.write(system(), fn);
    assert.ok(result.kind === 'done');
    return result.data;
  };
  const start = (name: string, version?: number) =>
    write(async (ctx) => ctx.plan(startRebuild, { name, at: ctx.now, ...(version === undefined ? {} : { version }) }));
  /** A rebuild of three steps. */
  const part = async (_: WriteContext, position: number | null): Promise<RebuildStep<number>> => ({
    made: 10,
    next: position === 2 ? null : (position ?? 0) + 1,
  });
  const step = (name: string): Promise<RebuildProgress | undefined> => write((ctx) => stepRebuild(ctx, name, part));

  it('continue where the last step ended, and can start again when they have ended', async () => {
    assert.equal(await step('a'), undefined);
    await start('a');
    assert.deepEqual(await step('a'), { done: 10, finished: false });
    await start('a');
    assert.deepEqual(await step('a'), { done: 20, finished: false });
    assert.deepEqual(await step('a'), { done: 30, finished: true });
    assert.equal(await step('a'), undefined);
    assert.equal(await write((ctx) => findRebuild(ctx, 'a')), undefined);
    await start('a');
    assert.deepEqual(await step('a'), { done: 10, finished: false });
  });

  it('run once for each version, and from the beginning for a newer one', async () => {
    await start('b', 1);
    assert.deepEqual(await step('b'), { done: 10, finished: false });
    await start('b', 2);
    for (const done of [10, 20, 30]) assert.deepEqual(await step('b'), { done, finished: done === 30 });
    await start('b', 2);
    await start('b', 1);
    assert.equal(await step('b'), undefined);
  });

  it('run one step at a time, and a failed step again', async () => {
    await start('c');
    const during = await write((ctx) =>
      stepRebuild(ctx, 'c', async (own, position: number | null) => {
        assert.equal(await step('c'), undefined, 'another process has the step');
        return await part(own, position);
      }),
    );
    assert.deepEqual(during, { done: 10, finished: false });
    const failing = write((ctx) => stepRebuild(ctx, 'c', async () => assert.fail('broken')));
    await assert.rejects(failing, /broken/);
    assert.deepEqual(await step('c'), { done: 20, finished: false });
  });

  it('wait before the next step as long as the step says', async () => {
    await start('d');
    await write((ctx) => stepRebuild(ctx, 'd', async () => ({ made: 1, next: 1, waitMs: 60_000 })));
    assert.equal(await step('d'), undefined);
    await stored(world.app, `UPDATE rebuilds SET next_at = next_at - interval '60 seconds' WHERE name = 'd'`);
    assert.deepEqual(await step('d'), { done: 11, finished: false });
  });

  it('of the release before continue after the upgrade', async () => {
    for (let made = 0; made < 20; made++) await world.make({ title: `Item ${made}` });
    const ids = (await stored<{ id: string }>(world.app, 'SELECT id FROM objects ORDER BY id')).map(({ id }) => id);
    const [half, rule, armed] = [ids[9], randomUUID(), randomUUID()];
    const migration = (await readMigrations()).find(({ name }) => name.endsWith('-rebuilds')) ?? assert.fail();
    for (const statement of ['DROP TABLE rebuilds', 'DELETE FROM search_records', 'DELETE FROM report_facts'])
      await stored(world.app, statement);
    await stored(world.app, 'INSERT INTO search_rebuild (after_id, done, started_at) VALUES ($1, 10, now())', [half]);
    await stored(world.app, 'INSERT INTO report_rebuild (after_id, done, started_at) VALUES ($1, 10, now())', [half]);
    await stored(
      world.app,
      `INSERT INTO rule_timer_scans (rule_id, rule_version, begun_at, pass, after_id)
        VALUES ($1, 7, now(), 0, $3), ($2, 8, now(), 2, NULL)`,
      [rule, armed, half],
    );
    const client = new pg.Client({ connectionString: world.app.databaseUrl });
    await client.connect();
    await client.query(migration.sql).finally(() => client.end());
    const scans = `SELECT name, version, position, next_at IS NULL AS ended FROM rebuilds WHERE version > 0 ORDER BY version`;
    assert.deepEqual(await stored(world.app, scans), [
      { name: `rule-timers/${rule}`, version: 7, position: { pass: 1, after: half }, ended: false },
      { name: `rule-timers/${armed}`, version: 8, position: { pass: 3, after: null }, ended: true },
    ]);

    const loop = world.app.app.startWorker();
    await loop.runOnce();
    await loop.stop();
    // The first half was rebuilt before the upgrade.
    const late = ids.slice(10).map((id) => ({ id }));
    assert.deepEqual(await stored(world.app, 'SELECT id FROM search_records ORDER BY id'), late);
    assert.deepEqual(await stored(world.app, 'SELECT id FROM report_facts ORDER BY id'), late);
    const ended = `SELECT name, done FROM rebuilds WHERE next_at IS NULL AND version = 0 ORDER BY name`;
    assert.deepEqual(await stored(world.app, ended), [
      { name: 'report-facts', done: 20 },
      { name: 'search', done: 20 },
    ]);
  });
});

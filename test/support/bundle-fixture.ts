/** A migrated database with helpers to plan, apply and export bundles, for tests of configuration. */
import { configSections } from '../../src/configuration/sections.ts';
import { MODULES } from '../../src/modules.ts';
import { systemActor } from '../../src/domain/access/index.ts';
import {
  applyBundle,
  BundleError,
  type BundleFile,
  type BundleOptions,
  type BundleProblem,
  exportBundle,
  type PlannedItem,
  planBundle,
} from '../../src/configuration/engine.ts';
import { readDocument } from '../../src/configuration/document.ts';
import { newId, systemClock } from '../../src/platform/clock.ts';
import type { Actor, ReadContext, Caller } from '../../src/platform/unit-of-work/context.ts';
import { Database } from '../../src/platform/database/pool.ts';
import { Outbound } from '../../src/platform/outbound/outbound.ts';
import { ConfigSnapshot, loadSnapshot } from '../../src/platform/unit-of-work/snapshot.ts';
import { Work } from '../../src/platform/unit-of-work/work.ts';
import { HOSTILE_NAMES } from './private-listener.ts';
import { createTestDatabase } from './database.ts';

/** The sections, under the usual rule on addresses; the hostile names lead to private ones, and others to a public one. */
export const SECTIONS = configSections(
  MODULES,
  new Outbound({ allowPrivate: false, resolve: async (name) => HOSTILE_NAMES.get(name) ?? ['1.1.1.1'] }),
);

/** One file of a bundle. */
export function file(text: string, name = 'bundle.yaml'): BundleFile[] {
  return [{ name, text }];
}

/** The files with an empty list for each section that they do not name, so that pruning archives its items. */
export function whole(files: readonly BundleFile[]): BundleFile[] {
  const named = new Set(files.flatMap(({ text }) => readDocument(text).members.map(({ key }) => key)));
  const missing = SECTIONS.filter(({ key, shape }) => (shape === 'list' || key === 'synonyms') && !named.has(key));
  return [...files, ...missing.map(({ key }) => ({ name: `${key}.empty.yaml`, text: `${key}: []` }))];
}

function problemsIn(error: unknown): readonly BundleProblem[] {
  if (error instanceof BundleError) return error.problems;
  throw error;
}

/** Problems of the files for an empty configuration, without a database. */
export async function problemsOf(files: readonly BundleFile[]): Promise<readonly BundleProblem[]> {
  const ctx: ReadContext = {
    actor: systemActor(null),
    now: '2026-11-21T09:00:00.000Z',
    via: 'system',
    keyId: null,
    correlationId: 'test',
    config: new ConfigSnapshot(1, { items: [], typeVersions: [] }),
    query: async () => [],
    find: async () => undefined,
    newId,
    memo: new Map(),
  };
  try {
    await planBundle(ctx, SECTIONS, files);
    return [];
  } catch (error) {
    return problemsIn(error);
  }
}

export interface BundleFixture {
  db: Database;
  url: string;
  /** With `prune`, sections that the files do not name are empty; also of `apply` and `refused`. */
  plan(files: readonly BundleFile[], options?: BundleOptions): Promise<PlannedItem[]>;
  apply(files: readonly BundleFile[], options?: BundleOptions): Promise<PlannedItem[]>;
  /** Applies with the rights named, and as that person. */
  applyAs(rights: readonly string[], files: readonly BundleFile[], userId?: string): Promise<PlannedItem[]>;
  /** @param version of the configuration; the current one if absent */
  export(identity: boolean, version?: number): Promise<BundleFile[]>;
  /** The problems for which the files are refused. */
  refused(files: readonly BundleFile[], options?: BundleOptions): Promise<readonly BundleProblem[]>;
  close(): Promise<void>;
}

function actorWith(rights: readonly string[], userId: string | null): Actor {
  const held = new Set(rights);
  return {
    ...systemActor(null),
    userId,
    has: (right) => held.has(right),
    require: (right) => {
      if (!held.has(right)) throw new Error(`right missing: ${right}`);
    },
  };
}

export async function startBundleFixture(): Promise<BundleFixture> {
  const database = await createTestDatabase();
  const db = new Database({ url: database.url, max: 6 });
  const work = new Work({ db, clock: systemClock });
  const caller = async (actor: Actor = systemActor(null)): Promise<Caller> => ({
    actor,
    via: 'system',
    keyId: null,
    correlationId: 'test',
    config: await loadSnapshot(db),
  });
  const apply = async (files: readonly BundleFile[], options: BundleOptions, actor?: Actor): Promise<PlannedItem[]> => {
    const result = await work.write(await caller(actor), (ctx) => applyBundle(ctx, SECTIONS, files, options));
    if (result.kind !== 'done') throw new Error('no replay is possible here');
    return result.data;
  };
  return {
    db,
    url: database.url,
    plan: async (files, options = {}) =>
      await work.read(
        await caller(),
        (ctx) => planBundle(ctx, SECTIONS, options.prune === true ? whole(files) : files, options),
        { snapshot: true },
      ),
    apply: (files, options = {}) => apply(options.prune === true ? whole(files) : files, options),
    applyAs: (rights, files, userId) => apply(files, {}, actorWith(rights, userId ?? null)),
    export: async (identity, version) =>
      await work.read(await caller(), (ctx) => exportBundle(ctx, SECTIONS, { identity, version }), { snapshot: true }),
    refused: async (files, options = {}) => {
      try {
        await apply(options.prune === true ? whole(files) : files, options);
      } catch (error) {
        return problemsIn(error);
      }
      throw new Error('the bundle was applied');
    },
    close: async () => {
      await db.close();
      await database.drop();
    },
  };
}

/** The items of a plan that change something, as `section/code action`. */
export function changed(items: readonly PlannedItem[]): string[] {
  return items.flatMap(({ section, code, action }) => (action === 'leave' ? [] : [`${section}/${code} ${action}`]));
}

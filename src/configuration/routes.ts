/**
 * Configuration endpoints of the administration API (docs/spec/configuration.md#administration-api): plan, apply, export and
 * lookup of ids.
 */
import { bind, type Binding, ServicePart } from '../platform/module.ts';
import type { Static } from 'typebox';
import { faultAt } from '../lib/fault.ts';
import { Reply } from '../contract/operation.ts';
import { bundleSchemaText } from './bundle-schema.ts';
import type { ConfigSection } from './section.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import * as contract from './contract.ts';
import { loadUserNames } from '../platform/journal/journal.ts';
import { type Use, usesOf } from './uses.ts';
import { applyBundle, type BundleOptions, exportBundle, exportItem, planChanges, unreadable } from './engine.ts';
import { requireSection } from './export.ts';
import { requireRight } from './rights.ts';
import { bundleSections, impactOfPlans } from './sections.ts';
import { currentVersion, diffVersions, listVersions, readVersion } from './store-versions.ts';

/** @throws Fault INVALID_REQUEST without files, unless items are only archived: with `prune`, it would archive everything */
function options(body: Static<typeof contract.BundleFiles>): BundleOptions {
  if (body.files.length === 0 && (body.prune === true || body.archive === undefined)) {
    throw faultAt('INVALID_REQUEST', '/files', 'NO_FILES');
  }
  return {
    prune: body.prune === true,
    pruneIdentity: body.pruneIdentity === true,
    exact: body.exact === true,
    archive: body.archive ?? [],
    discard: body.discard ?? [],
  };
}

const MAX_USES = 50;

function shownUses(uses: readonly Use[]): { count: number; items: readonly Use[] } {
  return { count: uses.length, items: uses.slice(0, MAX_USES) };
}

function authorOf(id: string, names: ReadonlyMap<string, string>): { id: string; displayName: string } {
  return { id, displayName: names.get(id) ?? '' };
}

async function list(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  key: string,
  include: readonly string[],
): Promise<unknown> {
  ctx.actor.require('config.manage');
  const section = requireSection(sections, key);
  requireRight(ctx, section);
  const items = await section.load(ctx);
  const authors = include.includes('changedBy')
    ? await loadUserNames(ctx, [...new Set(items.flatMap(({ updatedBy }) => updatedBy ?? []))])
    : undefined;
  const uses = include.includes('usedBy') ? await usesOf(ctx, sections, section) : undefined;
  return items.map(({ id, code, state, definition, updatedAt = null, updatedBy = null }) => ({
    id,
    code,
    name: section.nameOf(definition, code),
    state,
    ...(include.includes('updatedAt') ? { updatedAt } : {}),
    ...(authors === undefined ? {} : { changedBy: updatedBy === null ? null : authorOf(updatedBy, authors) }),
    ...(uses === undefined ? {} : { usedBy: shownUses(uses.get(code) ?? []) }),
  }));
}

/** The answer with the configuration version that the unit reads. */
async function atVersion(ctx: ReadContext, data: unknown): Promise<Reply> {
  return Reply.withMeta(data, { configVersion: await currentVersion(ctx) });
}

/** The JSON schema of the bundle. */
const schemaText = new ServicePart('the schema of the bundle', ({ get }) => bundleSchemaText(get(bundleSections)));

export const bundleRoutes: readonly Binding[] = [
  bind(contract.listSection, async (ctx, { params, query }, _request, service) => {
    const include = (query.include ?? '').split(',');
    return await atVersion(ctx, await list(ctx, service.get(bundleSections), params.section, include));
  }),
  bind(contract.readItem, async (ctx, { params }, _request, service) => {
    ctx.actor.require('config.manage');
    const sections = service.get(bundleSections);
    return await atVersion(ctx, await exportItem(ctx, sections, requireSection(sections, params.section), params.code));
  }),
  bind(contract.plan, async (runner, { body }, _request, service) => {
    const wanted = body.impact === true ? service.get(impactOfPlans) : undefined;
    const sections = service.get(bundleSections);
    const { items, configVersion, impact } = await planChanges(runner, sections, body.files, options(body), wanted);
    return Reply.withMeta(items, { configVersion, ...(impact === undefined ? {} : { impact }) });
  }),
  bind(contract.apply, async (ctx, { body }, _request, service) => {
    const given = body.expected === undefined ? {} : { expected: body.expected };
    const items = await applyBundle(ctx, service.get(bundleSections), body.files, { ...options(body), ...given });
    // The unit holds the lock of the configuration: its version is the next one.
    const before = await currentVersion(ctx);
    return Reply.withMeta(items, { configVersion: ctx.invalidated.has('config') ? before + 1 : before });
  }),
  bind(contract.exported, async (ctx, { query }, _request, service) => {
    const sections = service.get(bundleSections);
    const only = query.section?.split(',');
    const files = await exportBundle(ctx, sections, { identity: query.identity === true, only });
    return await atVersion(ctx, { files, leftOut: unreadable(ctx, sections) });
  }),
  bind(contract.listConfigVersions, async (ctx, { query }, _request, service) =>
    listVersions(ctx, service.get(bundleSections), query),
  ),
  bind(contract.readConfigVersion, async (ctx, { params }, _request, service) => {
    const sections = service.get(bundleSections);
    const version = Number(params.version);
    const files = await exportBundle(ctx, sections, { identity: false, version });
    return { ...(await readVersion(ctx, version)), files, leftOut: unreadable(ctx, sections) };
  }),
  bind(contract.diffConfigVersions, async (ctx, { query }, _request, service) =>
    diffVersions(ctx, service.get(bundleSections), query),
  ),
  bind(contract.schema, async (_ctx, _input, _request, service) => service.get(schemaText)),
];

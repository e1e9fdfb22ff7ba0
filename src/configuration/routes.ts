/**
 * Configuration endpoints of the administration API (docs/spec/configuration.md#administration-api): plan, apply, export and
 * lookup of ids.
 */
import type { Static } from 'typebox';
import { Fault } from '../lib/fault.ts';
import { problem } from '../lib/problem.ts';
import { type BoundOperation, bind } from '../platform/unit-of-work/binding.ts';
import { bundleSchemaText } from './bundle-schema.ts';
import type { ConfigSection } from './section.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import * as contract from './contract.ts';
import { loadAuthors } from './store.ts';
import { type Use, usesOf } from './uses.ts';
import { applyBundle, type BundleOptions, exportBundle, exportItem, planChanges, unreadable } from './engine.ts';
import { requireRight } from './rights.ts';

/** @throws Fault INVALID_REQUEST without files, unless items are only archived: with `prune`, it would archive everything */
function options(body: Static<typeof contract.BundleFiles>): BundleOptions {
  if (body.files.length === 0 && (body.prune === true || body.archive === undefined)) {
    throw new Fault('INVALID_REQUEST', problem('NO_FILES'));
  }
  return {
    prune: body.prune === true,
    pruneIdentity: body.pruneIdentity === true,
    exact: body.exact === true,
    archive: body.archive ?? [],
  };
}

function sectionOf(sections: readonly ConfigSection[], key: string): ConfigSection {
  const section = sections.find((one) => one.key === key);
  if (section === undefined) {
    throw new Fault('NOT_FOUND', `There is no such section. Sections: ${sections.map((one) => one.key).join(', ')}.`);
  }
  return section;
}

const MOST_USES = 50;

function shownUses(uses: readonly Use[]): { count: number; items: readonly Use[] } {
  return { count: uses.length, items: uses.slice(0, MOST_USES) };
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
  const section = sectionOf(sections, key);
  requireRight(ctx, section);
  const items = await section.load(ctx);
  const authors = include.includes('changedBy') ? await loadAuthors(ctx, key) : undefined;
  const uses = include.includes('usedBy') ? await usesOf(ctx, sections, section) : undefined;
  return items.map(({ id, code, state, definition, updatedAt = null, updatedBy = null }) => ({
    id,
    code,
    name:
      (definition as { name?: unknown; displayName?: unknown }).name ??
      (definition as { displayName?: unknown }).displayName ??
      code,
    state,
    ...(include.includes('updatedAt') ? { updatedAt } : {}),
    ...(authors === undefined ? {} : { changedBy: updatedBy === null ? null : authorOf(updatedBy, authors) }),
    ...(uses === undefined ? {} : { usedBy: shownUses(uses.get(code) ?? []) }),
  }));
}

export function bundleRoutes(sections: readonly ConfigSection[]): BoundOperation[] {
  const schema = bundleSchemaText(sections);
  return [
    bind(contract.listSection, (ctx, { params, query }) =>
      list(ctx, sections, params.section, (query.include ?? '').split(',')),
    ),
    bind(contract.readItem, (ctx, { params }) => {
      ctx.actor.require('config.manage');
      return exportItem(ctx, sections, sectionOf(sections, params.section), params.code);
    }),
    bind(contract.plan, (runner, { body }) => planChanges(runner, sections, body.files, options(body))),
    bind(contract.apply, (ctx, { body }) => applyBundle(ctx, sections, body.files, options(body))),
    bind(contract.schema, () => Promise.resolve(schema)),
    bind(contract.exported, async (ctx, { query }) => ({
      files: await exportBundle(ctx, sections, { identity: query.identity === true }),
      leftOut: unreadable(ctx, sections),
    })),
  ];
}

/**
 * Configuration endpoints of the administration API (docs/spec/configuration.md#administration-api): plan, apply, export and
 * lookup of ids.
 */
import type { Static } from 'typebox';
import { Fault } from '../lib/fault.ts';
import { type BoundOperation, bind } from '../platform/unit-of-work/binding.ts';
import type { ConfigSection } from './section.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import * as contract from './contract.ts';
import { applyBundle, type BundleOptions, exportBundle, exportItem, planChanges, unreadable } from './engine.ts';
import { requireRight } from './rights.ts';

/** @throws Fault INVALID_REQUEST without files, unless items are only archived: with `prune`, it would archive everything */
function options(body: Static<typeof contract.BundleFiles>): BundleOptions {
  if (body.files.length === 0 && (body.prune === true || body.archive === undefined)) {
    throw new Fault('INVALID_REQUEST', 'The request has no files. Send files, or `archive` without `prune`.');
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

async function list(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  key: string,
  withChanges: boolean,
): Promise<unknown> {
  ctx.actor.require('config.manage');
  const section = sectionOf(sections, key);
  requireRight(ctx, section);
  const items = await section.load(ctx);
  return items.map(({ id, code, state, definition, updatedAt = null }) => ({
    id,
    code,
    name:
      (definition as { name?: unknown; displayName?: unknown }).name ??
      (definition as { displayName?: unknown }).displayName ??
      code,
    state,
    ...(withChanges ? { updatedAt } : {}),
  }));
}

export function bundleRoutes(sections: readonly ConfigSection[]): BoundOperation[] {
  return [
    bind(contract.listSection, (ctx, { params, query }) =>
      list(ctx, sections, params.section, query.include === 'updatedAt'),
    ),
    bind(contract.readItem, (ctx, { params }) => {
      ctx.actor.require('config.manage');
      return exportItem(ctx, sections, sectionOf(sections, params.section), params.code);
    }),
    bind(contract.plan, (runner, { body }) => planChanges(runner, sections, body.files, options(body))),
    bind(contract.apply, (ctx, { body }) => applyBundle(ctx, sections, body.files, options(body))),
    bind(contract.exported, async (ctx, { query }) => ({
      files: await exportBundle(ctx, sections, { identity: query.identity === true }),
      leftOut: unreadable(ctx, sections),
    })),
  ];
}

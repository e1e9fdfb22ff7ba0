/**
 * Plan, apply and export of the configuration bundle: one code path for all channels (docs/spec/configuration.md,
 * docs/spec/configuration.md#bundle). An apply is a plan and the writes that it says; it writes configuration rows only.
 */
import { Turns } from '../lib/yielding.ts';
import type { Change, ConfigSection } from './section.ts';
import { insertNestedId, insertVersion, lockConfiguration, updateVersion } from './store.ts';
import type { Runner } from '../platform/unit-of-work/binding.ts';
import type { ReadContext, WriteContext } from '../platform/unit-of-work/context.ts';
import { type Difference, differencesOf } from './differences.ts';
import { type BundleOptions, makePlan, type Plan, type PlannedItem, type VersionStep } from './planner.ts';
import { type Bundle, type BundleFile, readBundle } from './read.ts';
import { requireChanged, requireNamed, seesHolders, shown } from './rights.ts';

export { BundleError, type BundleProblem } from './errors.ts';
export { exportBundle, exportItem, unreadable } from './export.ts';
export type { BundleOptions, PlannedItem, VersionStep } from './planner.ts';
export type { BundleFile } from './read.ts';

/**
 * Says what `applyBundle` would do, and changes nothing. To see one state throughout, ask in a snapshot.
 *
 * @throws BundleError (400 INVALID_REQUEST) with every problem and its place
 * @throws Fault RIGHT_MISSING
 */
export async function planBundle(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  files: readonly BundleFile[],
  options: BundleOptions = {},
): Promise<PlannedItem[]> {
  ctx.actor.require('config.manage');
  const bundle = await readBundle(files, sections, ctx.actor.userId);
  return (await allowedPlan(ctx, sections, bundle, options)).items;
}

/** The plan, for a caller who may see all that it says. */
async function allowedPlan(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  bundle: Bundle,
  options: BundleOptions,
): Promise<Plan> {
  requireNamed(ctx, sections, bundle, options);
  const plan = await makePlan(ctx, sections, bundle, options);
  requireChanged(ctx, plan);
  return plan;
}

/** A line of a plan with what it changes in the item. */
export interface PlannedChange extends PlannedItem {
  differences: Difference[];
  /** How many more there are than are listed. */
  moreDifferences: number;
}

const MOST_DIFFERENCES = 200;

/** As `planBundle`, with the places that differ: for a person who decides. Files are read before a snapshot is open. */
export async function planChanges(
  { work, caller }: Runner,
  sections: readonly ConfigSection[],
  files: readonly BundleFile[],
  options: BundleOptions = {},
): Promise<PlannedChange[]> {
  caller.actor.require('config.manage');
  const bundle = await readBundle(files, sections, caller.actor.userId);
  return await work.read(caller, (ctx) => withDifferences(ctx, sections, bundle, options), { snapshot: true });
}

async function withDifferences(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  bundle: Bundle,
  options: BundleOptions,
): Promise<PlannedChange[]> {
  const plan = await allowedPlan(ctx, sections, bundle, options);
  const holders = seesHolders(ctx);
  const definitionOf = (change: Change, definition: unknown): unknown =>
    definition === undefined ? {} : shown(sections, change.section, definition, holders);
  const changes = new Map(plan.changes.map(({ change }) => [`${change.section} ${change.code}`, change]));
  const turns = new Turns();
  const planned: PlannedChange[] = [];
  for (const item of plan.items) {
    await turns.next();
    const change = changes.get(`${item.section} ${item.code}`);
    // What is archived stays as it is, and so do the definitions; the action says it all.
    const all =
      change === undefined || change.action === 'archive'
        ? []
        : differencesOf(definitionOf(change, change.stored?.definition), definitionOf(change, change.definition));
    const moreDifferences = Math.max(0, all.length - MOST_DIFFERENCES);
    planned.push({ ...item, differences: all.slice(0, MOST_DIFFERENCES), moreDifferences });
  }
  return planned;
}

/**
 * Applies a bundle: all of it or nothing, one apply at a time. The same bundle a second time writes nothing.
 *
 * @throws BundleError (400 INVALID_REQUEST) with every problem and its place
 * @throws Fault RIGHT_MISSING for `config.manage`, and for what single changes need beside it; ROLE_ESCALATION
 */
export async function applyBundle(
  ctx: WriteContext,
  sections: readonly ConfigSection[],
  files: readonly BundleFile[],
  options: BundleOptions = {},
): Promise<PlannedItem[]> {
  ctx.actor.require('config.manage');
  const bundle = await readBundle(files, sections, ctx.actor.userId);
  requireNamed(ctx, sections, bundle, options);
  // From here on what is read is what the apply before this one left.
  await lockConfiguration(ctx);
  for (const section of sections) await section.lock(ctx);
  const plan = await makePlan(ctx, sections, bundle, options);
  requireChanged(ctx, plan);
  for (const { change, section } of plan.changes) {
    for (const right of section.rights(change, plan.view, ctx.actor.userId)) ctx.actor.require(right);
  }
  await writePlan(ctx, plan);
  const ids = new Map(plan.changes.map(({ change }) => [`${change.section} ${change.code}`, change.id]));
  return plan.items.map((item) => ({ ...item, id: item.id ?? ids.get(`${item.section} ${item.code}`) ?? null }));
}

/** Plans the rows and events of what a plan says. */
export async function writePlan(ctx: WriteContext, plan: Plan): Promise<void> {
  if (plan.changes.length === 0) return;
  const turns = new Turns();
  for (const { change, section, version } of plan.changes) {
    await turns.next();
    section.write(ctx, change, plan.view);
    if (section.versioned) writeVersion(ctx, change, version);
    ctx.emit({ type: 'ConfigChanged', subject: `${change.section}:${change.code}`, data: auditData(change) });
  }
  for (const nested of plan.view.newNested) ctx.plan(insertNestedId, nested);
  // People and groups are not part of the configuration that processes keep; their rights are.
  ctx.invalidate(plan.changes.every(({ section }) => section.identity) ? 'rights' : 'config');
}

function writeVersion(ctx: WriteContext, change: Change, step: VersionStep | undefined): void {
  const row = { type_id: change.id, compiled: change.compiled };
  if (change.action === 'create') ctx.plan(insertVersion, { ...row, version: 1, at: ctx.now });
  else if (step === undefined) return;
  else if (step.compatible) ctx.plan(updateVersion, { ...row, version: step.to });
  else ctx.plan(insertVersion, { ...row, version: step.to, at: ctx.now });
}

function auditData(change: Change): Record<string, unknown> {
  const { action, stored, definition } = change;
  if (action === 'archive') return { action, before: stored?.definition };
  return { action, ...(stored === undefined ? {} : { before: stored.definition }), after: definition };
}

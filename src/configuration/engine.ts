/**
 * Plan, apply and export of the configuration bundle: one code path for all channels (docs/spec/configuration.md,
 * docs/spec/configuration.md#bundle). An apply computes a plan and writes its rows; it changes no records.
 */
import { Yielder } from '../lib/yielding.ts';
import type { Change, ConfigSection, ItemPath, SectionKey } from './section.ts';
import { insertNestedId, insertVersion, lockConfiguration, moveNestedId, updateVersion } from './store.ts';
import { requireDiscarded } from './lost.ts';
import type { Runner } from '../platform/unit-of-work/binding.ts';
import type { ReadContext, WriteContext } from '../platform/unit-of-work/context.ts';
import { listedDifferences } from './differences.ts';
import type { PlannedChange, PlannedItem, VersionStep } from './contract-plan.ts';
import { type BundleOptions, makePlan, type Plan } from './planner.ts';
import { type Bundle, type BundleFile, type BundleItem, readBundle, shapeProblems } from './read.ts';
import { requireChanged, requireNamed, requireWhole, seesHolders, shown } from './rights.ts';
import { currentVersion, requireVersion } from './store-versions.ts';
import { Fault, type FaultDetail } from '../lib/fault.ts';
import { problem } from '../lib/problem.ts';
import { deepEqualJson, pointer } from '../lib/json.ts';
import { BundleError } from './errors.ts';
import { type Impact, impactOf, type ImpactParts } from './impact.ts';

export { BundleError, type BundleProblem } from './errors.ts';
export { exportBundle, exportItem, type ExportScope, unreadable } from './export.ts';
export type { PlannedChange, PlannedItem, VersionStep } from './contract-plan.ts';
export type { BundleOptions } from './planner.ts';
export type { BundleFile } from './read.ts';

/**
 * Returns what `applyBundle` would do, and changes nothing. Call it in a snapshot, so that all reads see the same state.
 *
 * @throws BundleError (400 INVALID_REQUEST) with all problems and their positions
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

/** The plan. @throws Fault RIGHT_MISSING if the caller may not see a part of it */
async function allowedPlan(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  bundle: Bundle,
  options: BundleOptions,
): Promise<Plan> {
  requireNamed(ctx, sections, bundle, options);
  const plan = await makePlan(ctx, sections, bundle, options);
  requireChanged(ctx, plan);
  requireWhole(plan, bundle, options);
  return plan;
}

export interface PlannedChanges {
  items: PlannedChange[];
  /** Only if it was asked for. */
  impact?: Impact;
  /** The configuration version that the plan compares with; `expected` of an apply takes it. */
  configVersion: number;
}

/**
 * Like `planBundle`, with the differences in each item. Files are parsed before the snapshot is opened.
 *
 * @param impact given to compute the impact of the plan, too
 */
export async function planChanges(
  { work, caller }: Pick<Runner, 'work' | 'caller'>,
  sections: readonly ConfigSection[],
  files: readonly BundleFile[],
  options: BundleOptions = {},
  impact?: ImpactParts,
): Promise<PlannedChanges> {
  caller.actor.require('config.manage');
  const bundle = await readBundle(files, sections, caller.actor.userId);
  const plan = async (ctx: ReadContext): Promise<PlannedChanges> => ({
    items: await withDifferences(ctx, sections, bundle, options),
    configVersion: await currentVersion(ctx),
  });
  const planned = await work.read(caller, plan, { snapshot: true });
  if (impact === undefined) return planned;
  const parts = { bundle, options, write: writePlan };
  return { ...planned, impact: await impactOf({ work, caller }, sections, impact, parts) };
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
    definition === undefined ? undefined : shown(sections, change.section, definition, holders);
  const changes = new Map(plan.changes.map(({ change }) => [`${change.section} ${change.code}`, change]));
  const schemas = new Map(sections.map(({ key, schema }) => [key, schema]));
  const yielder = new Yielder();
  const planned: PlannedChange[] = [];
  for (const item of plan.items) {
    await yielder.next();
    const change = changes.get(`${item.section} ${item.code}`);
    // Archiving does not change the definition.
    const listed =
      change === undefined || change.action === 'archive'
        ? listedDifferences()
        : listedDifferences(
            definitionOf(change, change.stored?.definition),
            definitionOf(change, change.definition),
            schemas.get(item.section),
          );
    planned.push({ ...item, ...listed });
  }
  return planned;
}

/**
 * Applies a bundle completely or not at all, one apply at a time. Applying the same bundle again writes nothing.
 *
 * @throws BundleError (400 INVALID_REQUEST) with all problems and their positions
 * @throws Fault RIGHT_MISSING for `config.manage` and the rights that single changes need in addition; ROLE_ESCALATION,
 *   CONFIGURATION_CHANGED
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
  // Later reads see the result of the previous apply.
  await lockConfiguration(ctx);
  if (options.expected !== undefined) await requireVersion(ctx, options.expected);
  for (const section of sections) await section.lock(ctx);
  const lockRecords = async (): Promise<void> => {
    for (const section of sections) await section.lockRecords(ctx);
  };
  const plan = await makePlan(ctx, sections, bundle, { ...options, lockRecords });
  requireChanged(ctx, plan);
  requireWhole(plan, bundle, options);
  requireDiscarded(plan.items, plan.occupied, options.discard ?? []);
  // An item that only follows renames keeps its meaning, unless it covers more than before.
  for (const { change, section } of [...plan.changes.filter((one) => !isFollowing(one.change)), ...plan.widened]) {
    for (const right of section.rights(change, plan.view, ctx.actor.userId)) ctx.actor.require(right);
  }
  await writePlan(ctx, plan);
  const ids = new Map(plan.changes.map(({ change }) => [`${change.section} ${change.code}`, change.id]));
  return plan.items.map((item) => ({ ...item, id: item.id ?? ids.get(`${item.section} ${item.code}`) ?? null }));
}

/** Whether the item only follows a rename of something that it names. */
function isFollowing({ action, stored, before, code, definition }: Change): boolean {
  const moved = action === 'change' && before !== stored && before?.code === code;
  return moved && deepEqualJson(stored?.definition, definition);
}

/** Plans the rows and events of a plan. */
export async function writePlan(ctx: WriteContext, plan: Plan): Promise<void> {
  if (plan.changes.length === 0) return;
  const yielder = new Yielder();
  for (const { change, section, version } of plan.changes) {
    await yielder.next();
    section.write(ctx, change, plan.view);
    if (section.versioned) writeVersion(ctx, change, version);
    ctx.emit({ type: 'ConfigChanged', subject: `${change.section}:${change.code}`, data: auditData(change) });
  }
  const written = new Set<string>();
  for (const { change, version } of plan.changes) {
    if (version?.compatible === true) written.add(`${change.id} ${version.to}`);
  }
  for (const { typeId, version, compiled } of plan.view.changedVersions) {
    if (!written.has(`${typeId} ${version}`)) ctx.plan(updateVersion, { type_id: typeId, version, compiled });
  }
  for (const nested of plan.view.newNested) ctx.plan(insertNestedId, nested);
  for (const nested of plan.view.movedNested) ctx.plan(moveNestedId, nested);
  // Processes cache no users and groups with the configuration, only rights. `planItem` raises the configuration version.
  ctx.invalidate('rights');
}

function writeVersion(ctx: WriteContext, change: Change, step: VersionStep | undefined): void {
  const row = { type_id: change.id, compiled: change.compiled };
  if (change.action === 'create') ctx.plan(insertVersion, { ...row, version: 1, at: ctx.now });
  else if (step === undefined) return;
  else if (step.compatible) ctx.plan(updateVersion, { ...row, version: step.to });
  else ctx.plan(insertVersion, { ...row, version: step.to, at: ctx.now });
}

function auditData(change: Change): Record<string, unknown> {
  const { action, before, definition } = change;
  if (action === 'archive') return { action, before: before?.definition };
  return { action, ...(before === undefined ? {} : { before: before.definition }), after: definition };
}

export interface AddedItem {
  id: string;
  /** The definition with all defaults. */
  definition: unknown;
}

/**
 * Adds one item in a separate call. It is planned, validated and written like a bundle with only this item. The caller has
 * validated its shape and checks the required right.
 *
 * @throws Fault ALREADY_EXISTS with `{field}` if the section has or had the code, INVALID_REQUEST with pointers into the item
 */
export async function addItem(
  ctx: WriteContext,
  sections: readonly ConfigSection[],
  key: SectionKey,
  item: unknown,
): Promise<AddedItem> {
  const section = sections.find((one) => one.key === key);
  if (section === undefined) throw new Error(`there is no section ${key}`);
  await lockConfiguration(ctx);
  const code = section.codeOf(item);
  if ((await section.load(ctx)).some((stored) => section.keyOf(stored.code) === section.keyOf(code))) {
    throw new Fault('ALREADY_EXISTS', problem('ITEM_EXISTS', { property: section.codeProperty, code }), {
      field: section.codeProperty,
    });
  }
  const plan = await planAlone(ctx, sections, section, item);
  await writePlan(ctx, plan);
  const added = plan.changes.find(({ change }) => change.section === key && change.code === code);
  if (added === undefined) throw new Error(`${key}/${code} was not added`);
  return { id: added.change.id, definition: added.change.definition };
}

/**
 * The plan of one item of a call, whose shape is valid.
 *
 * @throws Fault INVALID_REQUEST with pointers into the item
 */
async function planAlone(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  section: ConfigSection,
  item: unknown,
  base: ItemPath = [],
): Promise<Plan> {
  const code = section.codeOf(item);
  const details: FaultDetail[] = [];
  const named: BundleItem = {
    section,
    code,
    key: section.keyOf(code),
    item,
    problem: (path, found) => {
      details.push({ path: pointer(...base, ...path), ...found });
      return { file: null, line: null, column: null, path: '', ...found };
    },
  };
  const bundle: Bundle = { items: [named], problems: [], sections: new Set([section.key]) };
  return await makePlan(ctx, sections, bundle, { checksOwnFields: true }).catch((error: unknown) => {
    if (!(error instanceof BundleError) || details.length === 0) throw error;
    const [first] = details;
    const cause = details.length === 1 && first !== undefined ? first : problem('ITEM_PROBLEMS');
    throw new Fault('INVALID_REQUEST', cause, details);
  });
}

/**
 * The compiled form that an apply would give an item, stored or not. Nothing is written. Call it in a snapshot.
 *
 * @param base where the item is in the request
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST with pointers into the request
 */
export async function compileItem(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  key: SectionKey,
  item: unknown,
  base: ItemPath,
): Promise<unknown> {
  ctx.actor.require('config.manage');
  const section = sections.find((one) => one.key === key);
  if (section === undefined) throw new Error(`there is no section ${key}`);
  const wrong = shapeProblems(section.schema, item);
  if (wrong.length > 0) {
    const details = wrong.map(
      ({ path, problem: found }): FaultDetail => ({ path: pointer(...base, ...path), ...found }),
    );
    throw new Fault('INVALID_REQUEST', problem('ITEM_PROBLEMS'), details);
  }
  const { view } = await planAlone(ctx, sections, section, item, base);
  return view.entry(key, section.codeOf(item))?.compiled;
}

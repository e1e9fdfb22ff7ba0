/** Computes what applying a bundle would change, from the bundle and the stored configuration. */
import { isActive, isArchived } from '../contract/state.ts';
import { Fault } from '../lib/fault.ts';
import { deepEqualJson, isObject } from '../lib/json.ts';
import { type PlanNote, planNote, type Problem, problem } from '../lib/problem.ts';
import { Yielder } from '../lib/yielding.ts';
import { unknownReference } from './conditions.ts';
import type { Action, Change, ConfigSection, ItemPath, Report, SectionReport } from './section.ts';
import { loadNestedIds, loadVersions } from './store.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import { BundleError, type BundleProblem } from './errors.ts';
import type { Bundle } from './read.ts';
import { type Entry, noRenames, problemOf, View } from './view.ts';
import { eachNamedItem } from './names.ts';
import type { NamingSchema } from './naming.ts';
import { followRenames } from './follow-renames.ts';
import { withRenamed } from './renames.ts';
import { Proposals } from './proposals.ts';
import type { PlannedItem, VersionStep } from './contract-plan.ts';
import { countLost, lostNotes, renameNotes } from './lost.ts';
import { readsField, requireReadable } from './require-readable.ts';

export interface BundleOptions {
  /** Archive items that the bundle does not contain. */
  prune?: boolean;
  /** With `prune`: also users, groups, units, memberships and assignments. */
  pruneIdentity?: boolean;
  /** Replace memberships and assignments of the bundle's items by those of the bundle; otherwise only add to them. */
  exact?: boolean;
  /** The configuration version that the bundle was planned for; an apply fails if it is not the current one. */
  expected?: number;
  /** Further items to archive. */
  archive?: readonly { section: string; code: string }[];
  /** Fields and options that may go although records hold values: `types.incident.impact`, `types.incident.impact.high`. */
  discard?: readonly string[];
  /** For a call that refuses hidden fields like unknown ones, and whose item runs with the rights of its users. */
  checksOwnFields?: boolean;
  /** Called before records are counted that hold what goes; an apply keeps out other writers of records. */
  lockRecords?: () => Promise<void>;
}

export interface Plan {
  view: View;
  items: PlannedItem[];
  changes: { change: Change; section: ConfigSection; version: VersionStep | undefined }[];
  /** Items that cover more because of renames. They may be among the changes. */
  widened: { change: Change; section: ConfigSection }[];
  /** Paths of the states that go although records are in them. */
  occupied: Set<string>;
}

/** Maximum number of collected problems. The last item's problems may exceed it. */
const MAX_PROBLEMS = 1000;

/**
 * Loads the stored configuration, validates the result and returns the changes. All reads of the context must see the same
 * state of the configuration.
 *
 * @throws BundleError with all problems
 * @throws Fault RIGHT_MISSING for a place that depends on a field which the caller may not read
 */
export async function makePlan(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  bundle: Bundle,
  options: BundleOptions,
): Promise<Plan> {
  const exact = options.prune === true && options.pruneIdentity === true;
  const yielder = new Yielder();
  const view = await loadStored(ctx, sections, yielder);
  const problems = [...bundle.problems];
  const renames = followRenames(view, bundle);
  // Other checks would report consequences of these.
  if (renames.length > 0) throw new BundleError([...problems, ...renames]);
  await overlay(ctx, view, bundle, yielder);
  if (options.prune === true) prune(view, sections, exact);
  else keepArchivedIdentity(view, sections, exact);
  archive(view, options.archive ?? []);
  await merge(view, sections, exact || options.exact === true, yielder);
  // A caller for whom hidden fields are like unknown ones gets no names.
  const proposals = options.checksOwnFields === true ? undefined : new Proposals(ctx, view, readsField(ctx, view));
  problems.push(...(await validate(view, sections, proposals, yielder)));
  if (problems.length > 0) throw new BundleError(problems);
  const plan = await decide(view, sections, yielder);
  addWidened(plan);
  // Before anything is asked of records.
  if (options.checksOwnFields !== true) await requireReadable(ctx, plan, yielder);
  const bySection = Map.groupBy(plan.changes, ({ change }) => change.section);
  for (const section of sections) {
    const own = (bySection.get(section.key) ?? []).map(({ change }) => change);
    const report = reportFor(view, section, (...found) => problems.push(problemOf(...found)));
    await section.verify(ctx, own, view, report);
  }
  if (problems.length > 0) throw new BundleError(problems);
  await addLost(ctx, plan, options);
  return plan;
}

/** The stored configuration. All reads of the context must see the same state of it. */
export async function loadStored(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  yielder: Yielder,
): Promise<View> {
  const view = new View({
    sections,
    versions: await loadVersions(ctx),
    nested: await loadNestedIds(ctx),
    newId: () => ctx.newId(),
  });
  for (const section of sections) {
    for (const stored of await section.load(ctx)) {
      const { id, code, state, definition, compiled } = stored;
      view.add({ section, id, code, state, stored, named: undefined, definition, compiled, ...noRenames() });
      await yielder.next();
    }
  }
  return view;
}

async function overlay(ctx: ReadContext, view: View, bundle: Bundle, yielder: Yielder): Promise<void> {
  for (const named of bundle.items) {
    await yielder.next();
    const { section, code } = named;
    const entry = view.entry(section.key, code);
    if (entry !== undefined) {
      Object.assign(entry, { named, code, state: 'ACTIVE' });
    } else {
      const blank = { stored: undefined, definition: undefined, compiled: undefined, ...noRenames() };
      view.add({ section, code, id: ctx.newId(), state: 'ACTIVE', named, ...blank });
    }
  }
}

/** Users, groups and units that a call or an import archived stay archived, unless identity is pruned. */
function keepArchivedIdentity(view: View, sections: readonly ConfigSection[], exact: boolean): void {
  for (const section of sections) {
    if (!section.identity || exact) continue;
    for (const entry of view.entries(section.key)) {
      if (isArchived(entry.stored)) entry.state = 'ARCHIVED';
    }
  }
}

function prune(view: View, sections: readonly ConfigSection[], exact: boolean): void {
  for (const section of sections) {
    // A section of one mapping, such as settings, has no items to archive.
    if (section.shape === 'map' || (section.identity && !exact)) continue;
    for (const entry of view.entries(section.key)) if (entry.named === undefined) entry.state = 'ARCHIVED';
  }
  keepArchivedIdentity(view, sections, exact);
}

/** @throws Fault NOT_FOUND, INVALID_REQUEST for an item that a bundle cannot archive */
function archive(view: View, wanted: readonly { section: string; code: string }[]): void {
  for (const { section, code } of wanted) {
    const entry = view.entry(section, code);
    if (entry?.stored === undefined) throw new Fault('NOT_FOUND', `There is no ${section}/${code}.`);
    // Users, groups and units are archived by their own operations.
    if (entry.section.identity || entry.section.shape === 'map' || entry.named !== undefined) {
      throw new Fault('INVALID_REQUEST', problem('ARCHIVED_ELSEWHERE', { item: `${section}/${code}` }));
    }
    entry.state = 'ARCHIVED';
  }
}

async function merge(view: View, sections: readonly ConfigSection[], exact: boolean, yielder: Yielder): Promise<void> {
  const options = { exact, canonicalCode: (section: string, code: string) => view.canonicalCode(section, code) };
  for (const section of sections) {
    for (const entry of view.entries(section.key)) {
      if (entry.named === undefined) continue;
      await yielder.next();
      entry.definition =
        entry.named.item === undefined ? undefined : section.merge(entry.named.item, entry.stored?.definition, options);
    }
  }
}

/** Validates all active items, not only those of the bundle: a stored item may refer to one that the bundle archives. */
async function validate(
  view: View,
  sections: readonly ConfigSection[],
  proposals: Proposals | undefined,
  yielder: Yielder,
): Promise<BundleProblem[]> {
  const problems: BundleProblem[] = [];
  const add = (entry: Entry, path: ItemPath, found: Problem): void => {
    problems.push(problemOf(entry, path, proposals?.add(entry, path, found) ?? found));
  };
  for (const section of sections) {
    for (const entry of view.entries(section.key)) {
      if (!isActive(entry) || entry.definition === undefined) continue;
      await yielder.next();
      if (problems.length > MAX_PROBLEMS) return problems;
      eachNamedItem(section.schema as NamingSchema, entry.definition, (other, code, path) => {
        if (!view.has(other, code)) add(entry, path, unknownReference(other, code, view));
      });
      // Other checks would report consequences of these. The bundle's own item names what its author wants.
      const split = entry.named === undefined ? entry.effects.split : [];
      for (const { path, codes } of split)
        problems.push(problemOf(entry, path, problem('RENAME_IN_ALL_TYPES', { codes })));
      const report: Report = (...found) => {
        if (split.length === 0) add(entry, ...found);
      };
      entry.compiled = withRenamed(section.schema, section.compile(entry.definition, view, report), entry.renamed);
    }
    section.validateAll(view, reportFor(view, section, add));
  }
  return problems;
}

function reportFor(
  view: View,
  section: ConfigSection,
  add: (entry: Entry, path: ItemPath, found: Problem) => void,
): SectionReport {
  return (item, path, found) => {
    const entry = view.entry(section.key, item);
    if (entry !== undefined) add(entry, path, found);
  };
}

function actionOf(entry: Entry): Action {
  const stored = entry.original ?? entry.stored;
  if (stored === undefined) return 'create';
  if (stored.state !== entry.state) return isActive(entry) ? 'restore' : 'archive';
  // An item that stays archived is not compiled again, because nothing uses it.
  const same =
    deepEqualJson(stored.definition, entry.definition) &&
    (isArchived(entry) || deepEqualJson(stored.compiled, entry.compiled)) &&
    stored.code === entry.code;
  return same ? 'leave' : 'change';
}

async function decide(view: View, sections: readonly ConfigSection[], yielder: Yielder): Promise<Plan> {
  const plan: Plan = { view, items: [], changes: [], widened: [], occupied: new Set() };
  for (const section of sections) {
    const entries = [...view.entries(section.key)].sort((a, b) => (a.code < b.code ? -1 : 1));
    for (const entry of entries) {
      await yielder.next();
      const action = actionOf(entry);
      if (action === 'leave' && entry.named === undefined) continue;
      const { id, code, stored } = entry;
      const item: PlannedItem = { section: section.key, code, id: stored === undefined ? null : id, action };
      plan.items.push(item);
      if (action === 'leave') {
        if (isArchived(entry)) addNotes(item, [planNote('REMAINS_ARCHIVED')]);
        continue;
      }
      const change = changeOf(entry, action);
      const version = section.versioned ? stepOf(view, section, change) : undefined;
      if (version !== undefined) item.version = version;
      addNotes(item, [...renameNotes(entry), ...(await section.notes(change, view, yielder))]);
      plan.changes.push({ change, section, version });
    }
  }
  return plan;
}

function changeOf(entry: Entry, action: Change['action']): Change {
  const { section, id, code, stored, original, state } = entry;
  const kept = action === 'archive' && stored !== undefined;
  return {
    action,
    section: section.key,
    id,
    code,
    stored,
    before: original ?? stored,
    state,
    definition: kept ? stored.definition : entry.definition,
    compiled: kept ? stored.compiled : (entry.compiled ?? entry.definition),
  };
}

/** Whether the value at the path, or in it, is the code. */
function contains(value: unknown, [step, ...rest]: ItemPath, code: string): boolean {
  if (step !== undefined)
    return isObject(value) || Array.isArray(value) ? contains(Reflect.get(value, step), rest, code) : false;
  if (typeof value !== 'object' || value === null) return value === code;
  return Object.values(value).some((one) => contains(one, [], code));
}

/** Finds the items that cover more because of renames, and says so in the plan: at the item, or at the one with the part. */
function addWidened(plan: Plan): void {
  const items = new Map(plan.items.map((item) => [`${item.section} ${item.code}`, item]));
  for (const entry of plan.view.all()) {
    const { section, code, definition, effects } = entry;
    const gained = isActive(entry) ? effects.gained.filter(({ path, to }) => contains(definition, path, to)) : [];
    if (gained.length > 0) plan.widened.push({ section, change: changeOf(entry, 'change') });
    for (const { section: at, item: part, from, to } of gained) {
      const item = [items.get(`${section.key} ${code}`), items.get(`${at} ${part}`)].find(
        (one) => one !== undefined && one.action !== 'leave',
      );
      const note = planNote('RENAME_WIDENS', { from, to, at: `${at}/${part}`, item: `${section.key}/${code}` });
      if (item !== undefined) addNotes(item, [...(item.notes ?? []), note]);
    }
  }
}

function addNotes(item: PlannedItem, notes: PlanNote[]): void {
  if (notes.length === 0) return;
  item.note = notes.map(({ message }) => message).join('; ');
  item.notes = notes;
}

/** Counts the records that hold what goes, once no more of them can appear. */
async function addLost(ctx: ReadContext, plan: Plan, options: BundleOptions): Promise<void> {
  const items = new Map(plan.items.map((item) => [`${item.section} ${item.code}`, item]));
  const goes = plan.changes.flatMap(({ change, section }) => {
    const gone = change.action === 'archive' ? [] : (plan.view.entry(section.key, change.code)?.gone ?? []);
    return gone.length === 0 ? [] : [{ change, section, gone }];
  });
  if (goes.length === 0) return;
  await options.lockRecords?.();
  for (const { change, section, gone } of goes) {
    const reads = readsField(ctx, plan.view);
    const { lost, occupied } = await countLost(ctx, section, change, { gone, view: plan.view, reads });
    for (const path of occupied) plan.occupied.add(path);
    const item = items.get(`${section.key} ${change.code}`);
    if (item === undefined || lost.length === 0) continue;
    item.lost = lost;
    addNotes(item, [...(item.notes ?? []), ...lostNotes(lost)]);
  }
}

/** Undefined if no version changes. */
function stepOf(view: View, section: ConfigSection, change: Change): VersionStep | undefined {
  const newest = view.versions(section.key, change.code).at(-1);
  if (change.action === 'create' || newest === undefined || deepEqualJson(newest.compiled, change.compiled))
    return undefined;
  const { compatible, notes } = section.compare(newest.compiled, change.compiled);
  const reasons = notes.map(({ message }) => message);
  return { from: newest.version, to: newest.version + (compatible ? 0 : 1), compatible, reasons, notes };
}

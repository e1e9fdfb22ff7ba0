/**
 * The rights that a bundle needs in addition to `config.manage`. A section whose items have their own endpoints names the right
 * of these endpoints. A bundle accesses the same items, so it needs the same right to read and change them.
 */
import { Fault } from '../lib/fault.ts';
import { deepEqualJson } from '../lib/json.ts';
import { problem } from '../lib/problem.ts';
import type { ConfigSection } from './section.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import type { BundleOptions, Plan } from './planner.ts';
import type { Bundle } from './read.ts';

/**
 * Requires the right of users, groups and units for each such section that the bundle names, even if no item changes: reporting
 * an item as unchanged reveals what is stored. Called before anything is read, since problems of a bundle may also name users.
 *
 * @throws Fault RIGHT_MISSING
 */
export function requireNamed(
  ctx: Pick<ReadContext, 'actor'>,
  sections: readonly ConfigSection[],
  bundle: Bundle,
  options: BundleOptions,
): void {
  const pruned = options.prune === true && options.pruneIdentity === true;
  for (const section of sections) {
    if (section.identity && (pruned || bundle.sections.has(section.key))) requireRight(ctx, section);
  }
}

/**
 * Requires the right of each section in which something changes. An item does not count if only its compiled form changes
 * because an item that it refers to changed.
 *
 * @throws Fault RIGHT_MISSING
 */
export function requireChanged(ctx: Pick<ReadContext, 'actor'>, plan: Plan): void {
  for (const { section, change } of plan.changes) {
    const { action, stored, definition } = change;
    const same = action === 'change' && stored?.code === change.code && deepEqualJson(stored.definition, definition);
    if (!same) requireRight(ctx, section);
  }
}

/**
 * A bundle that does not name a section at all may be a part of one: pruning would archive what the other parts hold. A bundle that
 * is meant to have no items of a section names it with an empty list. Called after the rights, since the sections are named.
 *
 * @throws Fault INVALID_REQUEST (PRUNE_OF_PART)
 */
export function requireWhole(plan: Plan, bundle: Bundle, options: BundleOptions): void {
  if (options.prune !== true) return;
  const named = new Set((options.archive ?? []).map(({ section, code }) => `${section} ${code}`));
  const lost = plan.items.filter(
    ({ section, code, action }) =>
      action === 'archive' && !bundle.sections.has(section) && !named.has(`${section} ${code}`),
  );
  if (lost.length === 0) return;
  const sections = [...new Set(lost.map(({ section }) => section))];
  throw new Fault(
    'INVALID_REQUEST',
    problem('PRUNE_OF_PART', { sections, count: lost.length, first: sections[0] ?? '' }),
  );
}

/** @throws Fault RIGHT_MISSING */
export function requireRight(ctx: Pick<ReadContext, 'actor'>, section: ConfigSection): void {
  if (section.right !== undefined) ctx.actor.require(section.right);
}

/** Whether the caller may see the holders of roles: users who may administer users or assign roles. */
export function seesHolders({ actor }: Pick<ReadContext, 'actor'>): boolean {
  return actor.has('user.administer') || actor.has('role.assign');
}

/** The definition without its assignments, unless the caller may see them. */
export function shown(sections: readonly ConfigSection[], key: string, definition: unknown, holders: boolean): unknown {
  if (holders) return definition;
  const section = sections.find((one) => one.key === key && one.shape === 'list');
  return section?.toBundleItem(definition, { identity: false, active: () => true }) ?? definition;
}

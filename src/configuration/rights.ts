/**
 * The rights that a bundle needs in addition to `config.manage`. A section whose items have their own endpoints names the right
 * of these endpoints. A bundle accesses the same items, so it needs the same right to read and change them.
 */
import { deepEqualJson } from '../lib/json.ts';
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

/** @throws Fault RIGHT_MISSING */
export function requireRight(ctx: Pick<ReadContext, 'actor'>, section: ConfigSection): void {
  if (section.right !== undefined) ctx.actor.require(section.right);
}

export function mayRead(ctx: Pick<ReadContext, 'actor'>, section: ConfigSection): boolean {
  return section.right === undefined || ctx.actor.has(section.right);
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

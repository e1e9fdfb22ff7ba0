/**
 * Which rights a bundle needs beside `config.manage`. A section whose things have endpoints of their own names the right of
 * these endpoints: a bundle is another way to the same things, so it asks for the same right, to read them and to change them.
 */
import { deepEqualJson } from '../lib/json.ts';
import type { ConfigSection } from '../mechanisms/config-section.ts';
import type { ReadContext } from '../mechanisms/context.ts';
import type { BundleOptions, Plan } from './planner.ts';
import type { Bundle } from './read.ts';

/**
 * The right of people, groups and units is needed for each that the bundle names, changed or not: that an item is left as it is
 * tells what is stored. Called before anything is read, since problems of a bundle name people too.
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
 * The right of each section in which something changes. An item whose compiled form alone changes, since something that it names
 * did, is not changed by the caller.
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

/** Whether the caller may see who holds a role: those who administer people, and those who assign roles. */
export function seesHolders({ actor }: Pick<ReadContext, 'actor'>): boolean {
  return actor.has('user.administer') || actor.has('role.assign');
}

/** The definition without the people that it is assigned to, unless the caller may see them. */
export function shown(sections: readonly ConfigSection[], key: string, definition: unknown, holders: boolean): unknown {
  if (holders) return definition;
  const section = sections.find((one) => one.key === key && one.shape === 'list');
  return section?.present(definition, { identity: false, active: () => true }) ?? definition;
}

/**
 * Adds one item of configuration in a separate call. It is planned, validated and written like a bundle with only this item
 * (docs/spec/configuration.md). The calling module checks the required right.
 */
import { Fault, type FaultDetail } from '../lib/fault.ts';
import { pointer } from '../lib/json.ts';
import type { ConfigSection } from './section.ts';
import { lockConfiguration } from './store.ts';
import type { WriteContext } from '../platform/unit-of-work/context.ts';
import { writePlan } from './engine.ts';
import { BundleError } from './errors.ts';
import { makePlan } from './planner.ts';
import type { BundleItem } from './read.ts';

export interface AddedItem {
  id: string;
  /** The definition with all defaults. */
  definition: unknown;
}

/**
 * Adds an item whose shape the caller has validated.
 *
 * @throws Fault ALREADY_EXISTS with `{field}` if the section has or had the code, INVALID_REQUEST with pointers into the item
 */
export async function addItem(
  ctx: WriteContext,
  sections: readonly ConfigSection[],
  key: string,
  item: unknown,
): Promise<AddedItem> {
  const section = sections.find((one) => one.key === key);
  if (section === undefined) throw new Error(`there is no section ${key}`);
  await lockConfiguration(ctx);
  const code = section.codeOf(item);
  if ((await section.load(ctx)).some((stored) => section.keyOf(stored.code) === section.keyOf(code))) {
    throw new Fault('ALREADY_EXISTS', `The ${section.codeProperty} ${code} already exists. Use another one.`, {
      field: section.codeProperty,
    });
  }
  const details: FaultDetail[] = [];
  const named: BundleItem = {
    section,
    code,
    key: section.keyOf(code),
    item,
    problem: (path, found) => {
      details.push({ path: pointer(...path), ...found });
      return { file: null, line: null, column: null, path: '', ...found };
    },
  };
  const plan = await makePlan(ctx, sections, { items: [named], problems: [], sections: new Set([key]) }, {}).catch(
    (error: unknown) => {
      if (!(error instanceof BundleError) || details.length === 0) throw error;
      const [first] = details;
      const message =
        details.length === 1 && first !== undefined
          ? first.message
          : 'The item has several problems. Correct each one in details.';
      throw new Fault('INVALID_REQUEST', message, details);
    },
  );
  await writePlan(ctx, plan);
  const added = plan.changes.find(({ change }) => change.section === key && change.code === code);
  if (added === undefined) throw new Error(`${key}/${code} was not added`);
  return { id: added.change.id, definition: added.change.definition };
}

/**
 * One item of configuration by a call of its own: planned, judged and written as a bundle with nothing else in it would be
 * (configuration, section 1). Which right the call needs is for its room to ask.
 */
import { Fault, type FaultDetail } from '../lib/fault.ts';
import { pointer } from '../lib/json.ts';
import type { ConfigSection } from '../mechanisms/config-section.ts';
import { lockConfiguration } from '../mechanisms/config-store.ts';
import type { WriteContext } from '../mechanisms/context.ts';
import { writePlan } from './engine.ts';
import { BundleError } from './errors.ts';
import { makePlan } from './planner.ts';
import type { BundleItem } from './read.ts';

export interface AddedItem {
  id: string;
  /** With every default filled in. */
  definition: unknown;
}

/**
 * Adds an item whose shape the caller has checked.
 *
 * @throws Fault ALREADY_EXISTS with `{field}` for a code that the section has or had, INVALID_REQUEST with pointers into the item
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
    throw new Fault('ALREADY_EXISTS', `The ${section.codeProperty} ${code} is taken; choose another.`, {
      field: section.codeProperty,
    });
  }
  const details: FaultDetail[] = [];
  const named: BundleItem = {
    section,
    code,
    key: section.keyOf(code),
    item,
    problem: (path, problemCode, message) => {
      details.push({ path: pointer(...path), code: problemCode, message });
      return { file: null, line: null, column: null, path: '', code: problemCode, message };
    },
  };
  const plan = await makePlan(ctx, sections, { items: [named], problems: [], sections: new Set([key]) }, {}).catch(
    (error: unknown) => {
      if (!(error instanceof BundleError) || details.length === 0) throw error;
      const [first] = details;
      const message =
        details.length === 1 && first !== undefined ? first.message : 'Several things are wrong; see details.';
      throw new Fault('INVALID_REQUEST', message, details);
    },
  );
  await writePlan(ctx, plan);
  const added = plan.changes.find(({ change }) => change.section === key && change.code === code);
  if (added === undefined) throw new Error(`${key}/${code} was not added`);
  return { id: added.change.id, definition: added.change.definition };
}

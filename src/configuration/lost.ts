/** Fields, options and states that a change takes away: how many records hold them, and whether the apply may go on. */
import { Fault, type FaultDetail } from '../lib/fault.ts';
import { type PlanNote, planNote, problem } from '../lib/problem.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import type { Lost } from './contract-plan.ts';
import type { ReadsField } from './require-readable.ts';
import type { Change, CompileView, ConfigSection, GonePart } from './section.ts';
import type { Entry } from './view.ts';

/** Values that records hold of removed parts. `occupied`: paths of removed states that records are in, readable or not. */
export async function countLost(
  ctx: ReadContext,
  section: ConfigSection,
  change: Change,
  { gone, view, reads }: { gone: readonly GonePart[]; view: CompileView; reads: ReadsField },
): Promise<{ lost: Lost[]; occupied: string[] }> {
  const held = gone.filter(({ kind }) => kind === 'field' || kind === 'option' || kind === 'state');
  const lost: Lost[] = [];
  const occupied: string[] = [];
  if (held.length === 0) return { lost, occupied };
  const counts = await section.countRecords(ctx, change, held, view);
  const seesStates = ctx.actor.has('role.assign');
  for (const [index, { kind, codes }] of held.entries()) {
    const { all, readable } = counts[index] ?? { all: 0, readable: 0 };
    const path = [section.key, change.code, ...codes].join('.');
    const isComplete = kind === 'state' ? seesStates : reads(change.code, codes[0] ?? '');
    const count = isComplete ? { records: all } : { records: readable, complete: false as const };
    lost.push({ path, kind: kind as Lost['kind'], ...count });
    if (kind === 'state' && all > 0) occupied.push(path);
  }
  return { lost, occupied };
}

export function lostNotes(lost: readonly Lost[]): PlanNote[] {
  return lost.map(({ path, kind, records, complete = true }) => {
    if (!complete) return planNote('DISCARD_COUNTED_PARTLY', { path, records });
    if (records === 0) return planNote('DISCARD_NEEDED', { path });
    return planNote(kind === 'state' ? 'STATE_OCCUPIED' : 'VALUES_DISCARDED', { path, records });
  });
}

export function renameNotes({ code, stored, original, partRenames }: Entry): PlanNote[] {
  const before = (original ?? stored)?.code;
  const own = before === undefined || before === code ? [] : [planNote('ITEM_RENAMED', { from: before, to: code })];
  const parts = partRenames.map(({ kind, from, to }) => planNote(PART_NOTES[kind], { from, to }));
  return [...own, ...parts];
}

const PART_NOTES = {
  field: 'FIELD_RENAMED',
  option: 'OPTION_RENAMED',
  state: 'STATE_RENAMED',
  transition: 'TRANSITION_RENAMED',
  node: 'PART_RENAMED',
} as const;

/**
 * Whether anything is held must not show in whether the apply goes on: each path needs `discard`, also without records.
 *
 * @param occupied paths of states in which records are
 * @throws Fault STATE_IN_USE, VALUES_WOULD_BE_LOST with `[{path, code, records}]`
 */
export function requireDiscarded(
  items: readonly { lost?: Lost[] }[],
  occupied: ReadonlySet<string>,
  discard: readonly string[],
): void {
  const lost = items.flatMap((item) => item.lost ?? []);
  const states = lost.filter(({ path }) => occupied.has(path));
  if (states.length > 0) {
    const message =
      'Records are in states that would be removed. Move them to other states first. Nothing was changed.';
    throw new Fault(
      'STATE_IN_USE',
      message,
      states.map((one) => detail(one, 'STATE_IN_USE')),
    );
  }
  const kept = lost.filter(({ path }) => !discard.includes(path));
  if (kept.length === 0) return;
  const message =
    'Fields, options or states would be removed. Rename with `was`, or confirm each path in details with `discard`. Nothing was changed.';
  throw new Fault(
    'VALUES_WOULD_BE_LOST',
    message,
    kept.map((one) => detail(one, 'VALUES_WOULD_BE_LOST')),
  );
}

function detail(
  { path, records, complete }: Lost,
  code: 'STATE_IN_USE' | 'VALUES_WOULD_BE_LOST',
): FaultDetail & { records: number } {
  const found =
    code === 'STATE_IN_USE'
      ? problem('STATE_IN_USE', { code: path, records })
      : problem('VALUES_WOULD_BE_LOST', { path, records });
  return { path, ...found, records, ...(complete === undefined ? {} : { complete }) };
}

/** Fields, options and states that a change takes away: how many records hold them, and whether the apply may go on. */
import { Fault, type FaultDetail } from '../lib/fault.ts';
import { type PlanNote, planNote, problem } from '../lib/problem.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import type { Change, CompileView, ConfigSection, GonePart } from './section.ts';
import type { Entry } from './view.ts';

export interface Lost {
  /** `types.incident.impact`, `types.incident.impact.high`, `workflows.incident.waiting`. */
  path: string;
  kind: 'field' | 'option' | 'state';
  /** More than 0. */
  records: number;
}

/** What records hold of the parts that go. */
export async function countLost(
  ctx: ReadContext,
  section: ConfigSection,
  change: Change,
  gone: readonly GonePart[],
  view: CompileView,
): Promise<Lost[]> {
  const held = gone.filter(({ kind }) => kind === 'field' || kind === 'option' || kind === 'state');
  if (held.length === 0) return [];
  const counts = await section.countRecords(ctx, change, held, view);
  return held.flatMap(({ kind, codes }, index) => {
    const records = counts[index] ?? 0;
    const path = [section.key, change.code, ...codes].join('.');
    return records === 0 ? [] : [{ path, kind: kind as Lost['kind'], records }];
  });
}

export function lostNotes(lost: readonly Lost[]): PlanNote[] {
  return lost.map(({ path, kind, records }) =>
    planNote(kind === 'state' ? 'STATE_OCCUPIED' : 'VALUES_DISCARDED', { path, records }),
  );
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

/** @throws Fault STATE_IN_USE, VALUES_WOULD_BE_LOST with `[{path, code, records}]` */
export function requireDiscarded(items: readonly { lost?: Lost[] }[], discard: readonly string[]): void {
  const lost = items.flatMap((item) => item.lost ?? []);
  const states = lost.filter(({ kind }) => kind === 'state');
  if (states.length > 0) {
    const message =
      'Records are in states that would be removed. Move them to other states first. Nothing was changed.';
    throw new Fault('STATE_IN_USE', message, states.map(detail));
  }
  const kept = lost.filter(({ path }) => !discard.includes(path));
  if (kept.length === 0) return;
  const message =
    'Values of records would be discarded. Rename with `was`, or confirm each path in details with `discard`. Nothing was changed.';
  throw new Fault('VALUES_WOULD_BE_LOST', message, kept.map(detail));
}

function detail({ path, kind, records }: Lost): FaultDetail & { records: number } {
  const found =
    kind === 'state'
      ? problem('STATE_IN_USE', { code: path, records })
      : problem('VALUES_WOULD_BE_LOST', { path, records });
  return { path, ...found, records };
}

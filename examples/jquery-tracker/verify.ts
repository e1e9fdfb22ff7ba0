/** Reads everything back and compares it with the plans: values, history, numbers, and that there is nothing more. */
import { isDeepStrictEqual } from 'node:util';
import type { LifePlan, Step } from './timeline.ts';
import { TYPE } from './configure.ts';
import type { Values } from './plan.ts';
import { inParallel, type Progress } from './progress.ts';
import { type Context, type Differ, type Person, read } from './reading.ts';
import { type ActivityCounts, compareActivity, compareWorkflow, noneYet } from './verify-activity.ts';
import { transitionCode } from './workflow.ts';

interface StoredRecord {
  id: string;
  number: string | null;
  title: string | null;
  typeCode: string;
  revision: number;
  state: string;
  workflowState: { code: string } | null;
  values: Values;
  createdBy: Person | null;
  updatedBy: Person | null;
}

interface HistoryEvent {
  type: string;
  actor: { id: string | null; displayName: string; via: string };
  revision: number | null;
  changes: { field: string; from: unknown; to: unknown }[];
  data: Record<string, unknown> | null;
}

/** A difference between the service and the plan. */
export interface Deviation {
  ticket: string;
  what: string;
  expected: unknown;
  found: unknown;
}

export interface Verdict {
  records: number;
  events: number;
  /** Records of the type that the list shows. */
  listed: number;
  around: ActivityCounts;
  deviations: Deviation[];
}

/** Compares every ticket. Tickets that were refused are deviations, too: they are not there. */
export async function verify(
  context: Context,
  plans: readonly LifePlan[],
  workers: number,
  progress: Progress,
): Promise<Verdict> {
  const verdict: Verdict = { records: 0, events: 0, listed: 0, around: noneYet(), deviations: [] };
  const numbers = new Map<string, string>();
  await inParallel(plans, workers, async (plan) => {
    const differ = (what: string, expected: unknown, found: unknown): void => {
      if (!isDeepStrictEqual(expected, found)) verdict.deviations.push({ ticket: plan.ticket, what, expected, found });
    };
    const id = context.journal.created.get(plan.ticket);
    differ('a record was created', true, id !== undefined);
    if (id !== undefined) {
      const record = await read<StoredRecord>(context, 'read', `/api/v1/objects/${id}`);
      const events = await read<HistoryEvent[]>(context, 'history', `/api/v1/objects/${id}/history`);
      await compareActivity(context, plan, id, verdict.around, differ);
      await compareWorkflow(context, plan, id, verdict.around, differ);
      compareRecord(context, plan, record, differ);
      compareHistory(context, plan, events, differ);
      const twin = numbers.get(record.number ?? '');
      differ('no other record has its number', undefined, twin);
      numbers.set(record.number ?? '', plan.ticket);
      verdict.records++;
      verdict.events += events.length;
    }
    progress.add();
  });
  const listed = await listAll(context);
  verdict.listed = listed.length;
  const ours = [...context.journal.created.values()].sort();
  if (!isDeepStrictEqual(listed.toSorted(), ours)) {
    const what = 'the list has exactly the records that were created';
    verdict.deviations.push({ ticket: '', what, expected: ours.length, found: listed.length });
  }
  return verdict;
}

function compareRecord(context: Context, plan: LifePlan, record: StoredRecord, differ: Differ): void {
  for (const code of new Set([...Object.keys(plan.final), ...Object.keys(record.values)])) {
    differ(`value of ${code}`, plan.final[code] ?? null, record.values[code] ?? null);
  }
  differ('title', plan.final.summary ?? null, record.title);
  differ('type', TYPE, record.typeCode);
  differ('state', 'ACTIVE', record.state);
  differ('workflow state', plan.states.final, record.workflowState?.code);
  differ('has a number', true, record.number !== null);
  differ('revision', plan.changes.at(-1)?.revision ?? 1, record.revision);
  differ('created by', context.userIds.get(plan.reporter), record.createdBy?.id);
  const last = plan.changes.findLast((change) => Object.keys(change.effect).length > 0);
  differ('updated by', context.userIds.get(last?.author ?? plan.reporter), record.updatedBy?.id);
}

interface ExpectedEvent {
  type: string;
  author: string;
  /** Undefined: the event does not change the revision of the record. */
  revision: number | undefined;
  effect: Record<string, [unknown, unknown]>;
  /** Code of the transition. */
  transition?: string;
}

function eventOf(step: Step): ExpectedEvent | undefined {
  const { author } = step;
  if (step.kind === 'comment') return { type: 'CommentAdded', author, revision: undefined, effect: {} };
  if (step.kind === 'file') return { type: 'AttachmentAdded', author, revision: undefined, effect: {} };
  const { revision, effect, move } = step;
  if (Object.keys(effect).length === 0) return undefined;
  if (move === undefined) return { type: 'ObjectUpdated', author, revision, effect };
  return { type: 'ObjectTransitioned', author, revision, effect, transition: transitionCode(move) };
}

function compareHistory(context: Context, plan: LifePlan, all: HistoryEvent[], differ: Differ): void {
  // A link comes last, when the other record exists.
  const events = all.filter((event) => event.type !== 'RelationAdded');
  compareLinkEvents(context, plan, all, differ);
  const opened = { type: 'ObjectCreated', author: plan.reporter, revision: 1, effect: asEffect(plan.opening) };
  const expected: ExpectedEvent[] = [opened, ...plan.steps.flatMap((step) => eventOf(step) ?? [])];
  differ('number of events', expected.length, events.length);
  expected.forEach((event, index) => {
    const found = events[index];
    if (found === undefined) return;
    const where = `event ${index + 1}`;
    differ(`${where}: type`, event.type, found.type);
    if (event.revision !== undefined) differ(`${where}: revision`, event.revision, found.revision);
    differ(`${where}: actor`, context.userIds.get(event.author), found.actor.id);
    differ(`${where}: actor's name`, event.author, found.actor.displayName);
    differ(`${where}: way in`, 'api', found.actor.via);
    const changes = Object.fromEntries(found.changes.map(({ field, from, to }) => [field, [from, to]]));
    differ(`${where}: changes`, event.effect, changes);
    if (event.transition === undefined) return;
    const { code } = (found.data?.transition ?? {}) as { code?: string };
    differ(`${where}: transition`, event.transition, code);
  });
}

/** The end that links knows of it: one event, the last, on the ticket that duplicates another. */
function compareLinkEvents(context: Context, plan: LifePlan, all: HistoryEvent[], differ: Differ): void {
  const link = context.duplicates.get(plan.ticket);
  const expected =
    link === undefined
      ? []
      : [{ at: all.length, actor: context.userIds.get(link.author), target: context.journal.created.get(link.target) }];
  const found = all.flatMap(({ type, actor, data }, index) =>
    type === 'RelationAdded' ? [{ at: index + 1, actor: actor.id, target: data?.targetObjectId }] : [],
  );
  differ('events about links', expected, found);
}

function asEffect(opening: Values): Record<string, [null, unknown]> {
  return Object.fromEntries(Object.entries(opening).map(([code, value]) => [code, [null, value]]));
}

async function listAll(context: Context): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const path = `/api/v1/objects?typeId=${TYPE}&pageSize=100&page=${page}`;
    const list = await read<{ rows: { id: string }[]; hasMore: boolean }>(context, 'list 100', path);
    ids.push(...list.rows.map((row) => row.id));
    if (!list.hasMore) return ids;
  }
}

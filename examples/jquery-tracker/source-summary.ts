/** Statistics of the source data, computed before anything is sent. */
import { bytesOf, type LeftOutFile, type LifePlan } from './timeline.ts';
import type { Tracker } from './data.ts';
import { HISTORY_ONLY, STATUS } from './fields.ts';
import type { Problem } from './plan.ts';
import type { Derived } from './workflow.ts';

export type Counts = Record<string, number>;

/** Statistics of the source data. */
export interface SourceSummary {
  tickets: number;
  historyRows: number;
  /** Of one ticket by one person in one instant. */
  changes: number;
  /** Among them; where a field, or the status, changed twice in one instant, the next change goes on. */
  extraChangesForRepeatedFields: number;
  statusRows: number;
  resolutionRows: number;
  /** Changes in which the status moves, and those of them that carry the resolution, too. */
  transitions: number;
  transitionsWithResolution: number;
  /** Rows that name the current status: no transition. */
  statusStays: number;
  states: number;
  transitionsOfWorkflow: number;
  /** Transitions without a row, needed because a row's old value did not match. */
  unnamedTransitions: string[];
  /** Tickets by the status in tickets.csv. */
  finalStatuses: Counts;
  comments: number;
  attachments: number;
  /** Their recorded sizes, in bytes. */
  attachmentBytes: number;
  leftOutFiles: LeftOutFile[];
  attachmentsWithDescription: number;
  relations: number;
  /** Rows whose old value did not match, by field; the new value was used. */
  breaks: Counts;
  /** Fields in which the initial value plus the history differs from tickets.csv. */
  differencesFromTickets: Counts;
  /** Rows of fields that tickets.csv has no column for; they are fields of the type. */
  rowsOfHistoryOnlyFields: Counts;
  problems: Problem[];
}

export function summarise(tracker: Tracker, plans: readonly LifePlan[], derived: Derived): SourceSummary {
  const rows = [...tracker.history.values()].flat();
  const changes = plans.flatMap((plan) => plan.changes);
  const moves = changes.filter((change) => change.move !== undefined);
  const files = [...tracker.attachments.values()].flat();
  const extra: ReadonlySet<string> = new Set(HISTORY_ONLY);
  return {
    tickets: plans.length,
    historyRows: rows.length,
    changes: changes.length,
    statusRows: rows.filter((row) => row.field === STATUS).length,
    resolutionRows: rows.filter((row) => row.field === 'resolution').length,
    transitions: moves.length,
    transitionsWithResolution: moves.filter((change) => Object.hasOwn(change.values, 'resolution')).length,
    statusStays: sum(plans.map((plan) => plan.stays)),
    states: derived.workflow.states.length,
    transitionsOfWorkflow: derived.workflow.transitions.length,
    unnamedTransitions: derived.unnamed,
    finalStatuses: tally(tracker.tickets.map((ticket) => ticket.status)),
    comments: sum([...tracker.comments.values()].map((list) => list.length)),
    attachments: files.length,
    attachmentBytes: sum(files.map((file) => bytesOf(file.size))),
    leftOutFiles: plans.flatMap((plan) => plan.leftOut),
    attachmentsWithDescription: files.filter((file) => file.description !== '').length,
    relations: tracker.relations.length,
    extraChangesForRepeatedFields: sum(plans.map((plan) => plan.splits)),
    breaks: tally(plans.flatMap((plan) => plan.breaks)),
    differencesFromTickets: tally(plans.flatMap((plan) => plan.differences)),
    rowsOfHistoryOnlyFields: tally(rows.flatMap((row) => (extra.has(row.field) ? [row.field] : []))),
    problems: plans.flatMap((plan) => plan.problems),
  };
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** How often each name occurs, the most frequent first. */
function tally(names: readonly string[]): Counts {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}

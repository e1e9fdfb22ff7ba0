/** Plans the replay from rows of the audit log. Pure. */
import type { EventRow } from './data.ts';

export type Priority = 'p1' | 'p2' | 'p3' | 'p4';

/** State of the data → state of the workflow, and the transition that leads to it. */
export const STATES: ReadonlyMap<string, { code: string; transition: string }> = new Map([
  ['New', { code: 'new', transition: '' }],
  ['Active', { code: 'active', transition: 'start' }],
  ['Awaiting User Info', { code: 'awaiting-user-info', transition: 'ask-user' }],
  ['Awaiting Vendor', { code: 'awaiting-vendor', transition: 'ask-vendor' }],
  ['Awaiting Evidence', { code: 'awaiting-evidence', transition: 'ask-evidence' }],
  ['Awaiting Problem', { code: 'awaiting-problem', transition: 'await-problem' }],
  ['Resolved', { code: 'resolved', transition: 'resolve' }],
  ['Closed', { code: 'closed', transition: 'close' }],
]);

/** A change of an incident: of the state, the priority, or both. */
export interface Change {
  at: number;
  state?: string;
  priority?: Priority;
}

export interface Incident {
  number: string;
  opened: { at: number; priority: Priority; category: string | null; caller: string | null; team: string | null };
  changes: Change[];
  /** The values of the last row. */
  madeSla: boolean;
  /** Of the last row. */
  priority: Priority;
}

/** Milliseconds of `29/2/2016 01:16`, taken as UTC. @throws Error for anything else */
export function timeOf(text: string): number {
  const [, day, month, year, hour, minute] = /^(\d{1,2})\/(\d{1,2})\/(\d{4}) (\d{1,2}):(\d{2})$/.exec(text) ?? [];
  if (minute === undefined) throw new Error(`not a time of the data: ${text}`);
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute));
}

/** `3 - Moderate` is p3. @throws Error for anything else */
export function priorityOf(text: string): Priority {
  const digit = /^([1-4]) - /.exec(text)?.[1];
  if (digit === undefined) throw new Error(`not a priority of the data: ${text}`);
  return `p${digit}` as Priority;
}

const present = (cell: string): string | null => (cell === '?' ? null : cell.replaceAll(/\s+/g, ' '));

/** One incident from its rows, which are in order. What changes neither state nor priority moves no SLA and is left out. */
export function planIncident(rows: readonly EventRow[]): Incident {
  const [first] = rows;
  const last = rows.at(-1);
  if (first === undefined || last === undefined) throw new Error('an incident without rows');
  // A few were updated before their opening time.
  const openedAt = Math.min(timeOf(first.opened_at), timeOf(first.sys_updated_at));
  const changes: Change[] = [];
  let [at, state, priority] = [openedAt, 'new', priorityOf(first.priority)];
  const opened = {
    at: openedAt,
    priority,
    category: present(first.category),
    caller: present(first.caller_id),
    team: present(first.assignment_group),
  };
  for (const row of rows) {
    const next = STATES.get(row.incident_state)?.code;
    if (next === undefined) throw new Error(`not a state of the data: ${row.incident_state}`);
    const nextPriority = priorityOf(row.priority);
    // One incident's rows are not in order of time: it is taken to have happened in the order of the log.
    at = Math.max(at, timeOf(row.sys_updated_at));
    const change: Change = {
      at,
      ...(next === state ? {} : { state: next }),
      ...(nextPriority === priority ? {} : { priority: nextPriority }),
    };
    if (change.state !== undefined || change.priority !== undefined) changes.push(change);
    [state, priority] = [next, nextPriority];
  }
  return { number: first.number, opened, changes, madeSla: last.made_sla === 'true', priority };
}

/** The incidents of the log, in its order. @param limit maximum number */
export function planIncidents(rows: readonly EventRow[], limit: number): Incident[] {
  const byNumber = new Map<string, EventRow[]>();
  for (const row of rows) {
    const own = byNumber.get(row.number);
    if (own !== undefined) own.push(row);
    else if (byNumber.size < limit) byNumber.set(row.number, [row]);
  }
  return [...byNumber.values()].map(planIncident);
}

/** A moment with everything that happens in it: incident → what, in order; undefined is its opening. */
export interface Moment {
  at: number;
  happenings: Map<Incident, (Change | undefined)[]>;
}

/** Everything that happens to all incidents, in order of time. */
export function scheduleOf(incidents: readonly Incident[]): Moment[] {
  const moments = new Map<number, Moment>();
  const add = (at: number, incident: Incident, change: Change | undefined): void => {
    const moment = moments.get(at) ?? { at, happenings: new Map() };
    moments.set(at, moment);
    const own = moment.happenings.get(incident);
    if (own === undefined) moment.happenings.set(incident, [change]);
    else own.push(change);
  };
  for (const incident of incidents) {
    add(incident.opened.at, incident, undefined);
    for (const change of incident.changes) add(change.at, incident, change);
  }
  return [...moments.values()].sort((a, b) => a.at - b.at);
}

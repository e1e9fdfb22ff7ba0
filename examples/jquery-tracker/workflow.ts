/** The workflow of the tracker, derived from its history. Pure: the same data gives the same workflow and the same codes. */
import type { HistoryRow } from './data.ts';
import { STATUS } from './fields.ts';

/** From one state to another, by their codes. */
export interface Move {
  from: string;
  to: string;
}

interface Transition {
  code: string;
  name: string;
  from: string[];
  to: string;
  fields: { code: string }[];
}

/** An item of the bundle's section `workflows`. */
export interface Workflow {
  code: string;
  name: string;
  initial: string;
  states: { code: string; name: string; category: 'open' | 'waiting' | 'done' }[];
  transitions: Transition[];
}

/** Findings for the report. */
export interface Derived {
  workflow: Workflow;
  /** Transitions without a history row: a row's old value did not match, and the ticket moved this way. */
  unnamed: string[];
}

/** In the form of every transition: the reason of a closing, and when it happened in the tracker. */
const ALWAYS = ['resolution', 'changedAt'];
const CATEGORIES = new Map<string, 'waiting' | 'done'>([
  ['pending', 'waiting'],
  ['closed', 'done'],
]);

/** The code of the state for a status of the tracker. */
export function stateCode(status: string): string {
  return status.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

export function transitionCode({ from, to }: Move): string {
  return `${from}-to-${to}`;
}

/**
 * States are the statuses seen; transitions every pair that a row of the history names or a ticket in fact went, each with the
 * fields in its form that ever changed together with it.
 *
 * @param history rows of all tickets, each ticket's oldest first
 * @param statuses of tickets as they are in the end
 * @param codeOf code of the field by the tracker's name
 * @throws Error when tickets begin in different states: a record is created in one
 */
export function deriveWorkflow(
  code: string,
  history: readonly HistoryRow[],
  statuses: Iterable<string>,
  codeOf: (name: string) => string,
): Derived {
  const states = new Set<string>();
  const named = new Map<string, Move>();
  const walked = new Map<string, Move>();
  const forms = new Map<string, Set<string>>();
  const beginnings = new Set<string>();
  const standing = new Map<string, string>();
  for (const group of groups(history)) {
    const others = group.filter((row) => row.field !== STATUS).map((row) => codeOf(row.field));
    for (const row of group) {
      if (row.field !== STATUS) continue;
      const from = stateCode(row.old_value);
      const to = stateCode(row.new_value);
      const before = standing.get(row.ticket_id) ?? from;
      if (!standing.has(row.ticket_id)) beginnings.add(before);
      standing.set(row.ticket_id, to);
      states.add(from).add(to);
      for (const [moves, move] of [
        [named, { from, to }],
        [walked, { from: before, to }],
      ] as const) {
        if (move.from === move.to) continue;
        const key = transitionCode(move);
        moves.set(key, move);
        const form = forms.get(key) ?? new Set(ALWAYS);
        for (const other of others) form.add(other);
        forms.set(key, form);
      }
    }
  }
  for (const status of statuses) states.add(stateCode(status));
  const [initial, ...more] = beginnings;
  if (initial === undefined || more.length > 0) throw new Error(`tickets begin as ${[...beginnings].join(', ')}`);
  const transitions = [...new Map([...named, ...walked])].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    workflow: {
      code,
      name: 'What the tickets went through',
      initial,
      states: [...states].map((state) => ({ code: state, name: state, category: CATEGORIES.get(state) ?? 'open' })),
      transitions: transitions.map(([key, { from, to }]) => ({
        code: key,
        name: `${from} → ${to}`,
        from: [from],
        to,
        fields: [...(forms.get(key) ?? ALWAYS)].map((field) => ({ code: field })),
      })),
    },
    unnamed: [...walked.keys()].filter((key) => !named.has(key)),
  };
}

/** Rows that one person made on one ticket in one instant. */
function* groups(history: readonly HistoryRow[]): Generator<HistoryRow[]> {
  let group: HistoryRow[] = [];
  for (const row of history) {
    const first = group[0];
    const together =
      first?.ticket_id === row.ticket_id && first.author === row.author && first.changed_at === row.changed_at;
    if (!together && group.length > 0) {
      yield group;
      group = [];
    }
    group.push(row);
  }
  if (group.length > 0) yield group;
}

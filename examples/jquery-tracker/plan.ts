/**
 * Plans the replay of a ticket from the data: the record as it was opened, then its changes in order. Pure, so an interrupted
 * run computes the same plan again.
 */
import { isDeepStrictEqual } from 'node:util';
import { type HistoryRow, TICKET_COLUMNS, type TicketRow } from './data.ts';
import { type Field, instant, STATUS, type Wire } from './fields.ts';
import { type Move, stateCode } from './workflow.ts';

export type Values = Record<string, Wire>;

/** The field that every replayed change writes: when it was made in the tracker. */
const CHANGED_AT = 'changedAt';

/** What one person changed in one instant: a transition where the status changed, else a PATCH. */
export interface Change {
  kind: 'change';
  /** Handle in the tracker. */
  author: string;
  at: string;
  values: Values;
  /** Rows of the history that it replays. */
  rows: number;
  /** From state to state; undefined: the status stays, and a PATCH does it. */
  move: Move | undefined;
  /**
   * Differences from the current record: field code → [before, after], with the state as `workflowState`. Empty: no event and
   * no new revision.
   */
  effect: Record<string, [Wire, Wire]>;
  /** The record's revision afterwards. */
  revision: number;
}

/** A value that the record cannot hold as written. */
export interface Problem {
  ticket: string;
  field: string;
  what: string;
}

export interface TicketPlan {
  ticket: string;
  /** Handle of the reporter, who creates the record. */
  reporter: string;
  /** Without the empty ones. */
  opening: Values;
  changes: Change[];
  /** The expected final values, without empty ones. */
  final: Values;
  /** Code of the workflow state at opening, and in the end. */
  states: { opening: string; final: string };
  /** Rows of the history that name the current status: no transition. */
  stays: number;
  /** Tracker field names of changes whose old value was not the current one. */
  breaks: string[];
  /** Columns of `tickets.csv` that differ from opening plus history. */
  differences: string[];
  /** Changes made beyond one per author and instant, because a field changed more than once in it. */
  splits: number;
  problems: Problem[];
}

/**
 * Plans one ticket.
 *
 * The cells at opening are found by walking the history backwards from the final row, which leaves the first old value of each
 * field in the history, and the final cell of every other one.
 *
 * @param history rows of this ticket, oldest first
 * @param fields by the tracker's name; a history row of any other name is an error of the caller's survey
 */
export function planTicket(
  ticket: TicketRow,
  history: readonly HistoryRow[],
  fields: ReadonlyMap<string, Field>,
): TicketPlan {
  const cells = new Map<string, string>(TICKET_COLUMNS.map((column) => [column, ticket[column]]));
  for (const row of history.toReversed()) cells.set(row.field, row.old_value);
  const planner = new Planner(ticket.id, fields);
  const opening: Values = {};
  for (const [name, cell] of cells) {
    if (name === STATUS) continue;
    const { code, value } = planner.read(name, cell);
    if (value !== null) opening[code] = value;
  }
  const reporter = cells.get('reporter') ?? '';
  planner.standing = { ...opening };
  const openingState = stateCode(cells.get(STATUS) ?? '');
  planner.state = openingState;
  const breaks: string[] = [];
  let splits = 0;
  let previous: HistoryRow | undefined;
  for (const row of history) {
    if (cells.get(row.field) !== row.old_value) breaks.push(row.field);
    cells.set(row.field, row.new_value);
    const together = previous?.author === row.author && previous.changed_at === row.changed_at;
    if (planner.add(row, together) === 'split') splits++;
    previous = row;
  }
  planner.close();
  return {
    ticket: ticket.id,
    reporter,
    opening,
    changes: planner.changes,
    final: planner.standing,
    states: { opening: openingState, final: planner.state },
    stays: planner.stays,
    breaks,
    differences: TICKET_COLUMNS.filter((column) => cells.get(column) !== ticket[column]),
    splits,
    problems: planner.problems,
  };
}

interface OpenChange {
  author: string;
  at: string;
  values: Values;
  /** Code of the state that the status of the change names. */
  state: string | undefined;
  rows: number;
}

/** Collects rows of the history into changes and tracks the record after each. */
class Planner {
  readonly #ticket: string;
  readonly #fields: ReadonlyMap<string, Field>;
  readonly changes: Change[] = [];
  readonly problems: Problem[] = [];
  standing: Values = {};
  state = '';
  stays = 0;
  #revision = 1;
  #open: OpenChange | undefined;

  constructor(ticket: string, fields: ReadonlyMap<string, Field>) {
    this.#ticket = ticket;
    this.#fields = fields;
  }

  read(name: string, cell: string): { code: string; value: Wire; kept: boolean } {
    const field = this.#fields.get(name);
    if (field === undefined) throw new Error(`${this.#ticket}: no field for the tracker's ${name}`);
    const { value, problem } = field.convert(cell);
    if (problem !== undefined) this.problems.push({ ticket: this.#ticket, field: name, what: problem });
    const kept = value !== null || !field.required;
    if (!kept) this.problems.push({ ticket: this.#ticket, field: name, what: 'empty, though a value is required' });
    return { code: field.code, value, kept };
  }

  /** Adds a row to the open change, or to a new one where it belongs to another moment or its field is taken already. */
  add(row: HistoryRow, together: boolean): 'joined' | 'opened' | 'split' {
    const given = this.#given(row);
    const open = this.#open;
    if (together && open !== undefined && !taken(open, given)) {
      Object.assign(open.values, given.values);
      open.state ??= given.state;
      open.rows++;
      return 'joined';
    }
    this.close();
    const at = String(instant(row.changed_at).value);
    this.#open = { author: row.author, at, values: { ...given.values, [CHANGED_AT]: at }, state: given.state, rows: 1 };
    return together ? 'split' : 'opened';
  }

  #given(row: HistoryRow): Pick<OpenChange, 'values' | 'state'> & { code: string | undefined } {
    if (row.field === STATUS) return { values: {}, state: stateCode(row.new_value), code: undefined };
    const { code, value, kept } = this.read(row.field, row.new_value);
    return { values: kept ? { [code]: value } : {}, state: undefined, code };
  }

  close(): void {
    if (this.#open === undefined) return;
    const { state, ...open } = this.#open;
    const effect: Change['effect'] = {};
    for (const [code, value] of Object.entries(open.values)) {
      const before = this.standing[code] ?? null;
      if (isDeepStrictEqual(before, value)) continue;
      effect[code] = [before, value];
      if (value === null) delete this.standing[code];
      else this.standing[code] = value;
    }
    const move = state === undefined || state === this.state ? undefined : { from: this.state, to: state };
    if (move !== undefined) {
      effect.workflowState = [move.from, move.to];
      this.state = move.to;
    } else if (state !== undefined) this.stays++;
    if (Object.keys(effect).length > 0) this.#revision++;
    this.changes.push({ kind: 'change', ...open, move, effect, revision: this.#revision });
    this.#open = undefined;
  }
}

function taken(open: OpenChange, { code, state }: { code: string | undefined; state: string | undefined }): boolean {
  return state === undefined ? code !== undefined && Object.hasOwn(open.values, code) : open.state !== undefined;
}

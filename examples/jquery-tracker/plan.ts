/**
 * What to do with a ticket, decided from the data alone: the record as it was when opened, then one change after the other.
 * Pure: a run that was interrupted plans the same again.
 */
import { isDeepStrictEqual } from 'node:util';
import { type HistoryRow, TICKET_COLUMNS, type TicketRow } from './data.ts';
import { type Field, instant, type Wire } from './fields.ts';

export type Values = Record<string, Wire>;

/** The field that every replayed change writes: when it was made in the tracker. */
const CHANGED_AT = 'changedAt';

/** One PATCH: what one person changed in one instant. */
export interface Patch {
  /** Handle in the tracker. */
  author: string;
  changes: Values;
  /** Rows of the history that it replays. */
  rows: number;
  /** What differs from the record as it stands then: field code → [before, after]. Empty: no event, no new revision. */
  effect: Record<string, [Wire, Wire]>;
  /** The record's revision afterwards. */
  revision: number;
}

/** Something of the data that the record does not hold as it was written. */
export interface Flaw {
  ticket: string;
  field: string;
  what: string;
}

export interface TicketPlan {
  ticket: string;
  /** Handle of the reporter, by whom the record is created. */
  reporter: string;
  /** Without the empty ones. */
  opening: Values;
  patches: Patch[];
  /** Without the empty ones: what the record must hold in the end. */
  final: Values;
  /** Tracker's field names of changes whose old value was not the one that stood. */
  breaks: string[];
  /** Columns of `tickets.csv` that differ from opening plus history. */
  differences: string[];
  /** PATCHes made beyond one per author and instant, because a field changed more than once in it. */
  splits: number;
  flaws: Flaw[];
}

/**
 * Plans one ticket.
 *
 * The cells at opening are found by walking the history backwards from the final row, which leaves the first old value of
 * each field in the history, and the final cell of every other one.
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
    const { code, value } = planner.read(name, cell);
    if (value !== null) opening[code] = value;
  }
  const reporter = cells.get('reporter') ?? '';
  planner.standing = { ...opening };
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
    patches: planner.patches,
    final: planner.standing,
    breaks,
    differences: TICKET_COLUMNS.filter((column) => cells.get(column) !== ticket[column]),
    splits,
    flaws: planner.flaws,
  };
}

/** Collects rows of the history into patches and keeps the record as it stands after each. */
class Planner {
  readonly #ticket: string;
  readonly #fields: ReadonlyMap<string, Field>;
  readonly patches: Patch[] = [];
  readonly flaws: Flaw[] = [];
  standing: Values = {};
  #revision = 1;
  #open: { author: string; changes: Values; rows: number } | undefined;

  constructor(ticket: string, fields: ReadonlyMap<string, Field>) {
    this.#ticket = ticket;
    this.#fields = fields;
  }

  read(name: string, cell: string): { code: string; value: Wire; kept: boolean } {
    const field = this.#fields.get(name);
    if (field === undefined) throw new Error(`${this.#ticket}: no field for the tracker's ${name}`);
    const { value, flaw } = field.convert(cell);
    if (flaw !== undefined) this.flaws.push({ ticket: this.#ticket, field: name, what: flaw });
    const kept = value !== null || !field.required;
    if (!kept) this.flaws.push({ ticket: this.#ticket, field: name, what: 'empty, though a value is required' });
    return { code: field.code, value, kept };
  }

  /** Adds a row to the open patch, or to a new one where it belongs to another moment or its field is taken already. */
  add(row: HistoryRow, together: boolean): 'joined' | 'opened' | 'split' {
    const { code, value, kept } = this.read(row.field, row.new_value);
    const change: Values = kept ? { [code]: value } : {};
    const taken = this.#open !== undefined && Object.hasOwn(this.#open.changes, code);
    if (together && !taken && this.#open !== undefined) {
      Object.assign(this.#open.changes, change);
      this.#open.rows++;
      return 'joined';
    }
    this.close();
    const { value: at } = instant(row.changed_at);
    this.#open = { author: row.author, changes: { ...change, [CHANGED_AT]: at }, rows: 1 };
    return together ? 'split' : 'opened';
  }

  close(): void {
    if (this.#open === undefined) return;
    const effect: Patch['effect'] = {};
    for (const [code, value] of Object.entries(this.#open.changes)) {
      const before = this.standing[code] ?? null;
      if (isDeepStrictEqual(before, value)) continue;
      effect[code] = [before, value];
      if (value === null) delete this.standing[code];
      else this.standing[code] = value;
    }
    if (Object.keys(effect).length > 0) this.#revision++;
    this.patches.push({ ...this.#open, effect, revision: this.#revision });
    this.#open = undefined;
  }
}

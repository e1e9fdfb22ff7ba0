/** Random calls that fit a state: mostly on what is there, sometimes stale, hidden, malformed or of another kind. */
import { type Call, type Filter, IDEMPOTENT, type Op } from './calls.ts';
import type { State, Values } from './state.ts';
import { FIELDS } from './values.ts';
import { CALLERS, type Caller, DEFINITIONS, REFUSED_TAG, TRANSITIONS, type TypeCode } from './world.ts';

/** A source of random choices with a seed: the same seed and state give the same call. */
export class Dice {
  readonly #run: number;
  #seed: number;

  /** @param run keeps the ids of several runs apart */
  constructor(seed: number, run: number) {
    this.#run = run;
    this.#seed = seed >>> 0;
  }

  /** A number from 0 to below `below`. */
  below(below: number): number {
    this.#seed = (this.#seed + 0x6d2b79f5) >>> 0;
    let mixed = this.#seed;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  one<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }

  /** One of the last entries more often than one of the first. */
  recent<T>(from: readonly T[]): T | undefined {
    const window = this.chance(70) ? from.slice(-6) : from;
    return window.length === 0 ? undefined : this.one(window);
  }

  /** An id that no other run makes. */
  uuid(): string {
    const hex = (digits: number): string =>
      this.below(16 ** digits)
        .toString(16)
        .padStart(digits, '0');
    return `${this.#run.toString(16).padStart(8, '0')}-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`;
  }
}

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  title: ['One', 'Two', 'Three', 'One', 'Two', '', '   ', 'x'.repeat(41), null, 5],
  kind: ['a', 'a', 'a', 'b', 'c', null],
  count: [0, 7, 499, 500, 1000, 1001, -1, 1.5, '3', null],
  flag: [true, false, 'true', null],
  amount: ['1.5', '-2', 3, 'x', null],
  day: ['2026-02-28', '2026-02-30', null],
  tags: [['x'], ['x', 'y'], [REFUSED_TAG], ['x', 'x'], [], null, 'x'],
  note: ['a note', 'another', '', null],
  secret: ['s', 't', null],
  grade: ['low', 'high', 'middle', null],
  extra: [{ a: 1 }, [1, 2], 'x', 7, null],
  escalated: [true, false, null],
};

/** An id of anything, mostly of the kind that fits. */
function someId(dice: Dice, state: State, kind: 'users' | 'groups' | 'units' | 'records'): string {
  const table = dice.chance(80) ? kind : dice.one(['users', 'groups', 'units', 'records'] as const);
  return dice.recent([...state[table].keys()]) ?? dice.uuid();
}

function value(dice: Dice, state: State, run: string, field: string): unknown {
  if (field === 'run') return dice.chance(95) ? run : null;
  if (field === 'owner') return dice.chance(10) ? null : someId(dice, state, 'users');
  if (field === 'team') return dice.chance(10) ? null : someId(dice, state, 'groups');
  if (field === 'unit') return dice.chance(10) ? null : someId(dice, state, 'units');
  if (field === 'parts') {
    const parts = [...state.records.values()].filter(({ type }) => type === 'part');
    const ids = parts.filter(() => dice.chance(40)).map(({ id }) => id);
    return dice.chance(10) ? [someId(dice, state, 'records')] : ids;
  }
  return dice.one(VALUES[field] ?? ['?']);
}

function values(dice: Dice, state: State, run: string, type: TypeCode, most: number): Values {
  const codes = Array.from({ length: 1 + dice.below(most) }, () => dice.one(FIELDS[type]));
  if (dice.chance(2)) codes.push('absent');
  return Object.fromEntries(codes.map((code) => [code, value(dice, state, run, code)]));
}

function revision(dice: Dice, present: number): number {
  return dice.chance(85) ? present : Math.max(1, present + dice.one([-1, 1]));
}

/** A record, or an id that nothing has. */
function target(dice: Dice, state: State): { id: string; revision: number; type: TypeCode; workflow: string | null } {
  const ofTickets = [...state.records.values()].filter(({ type }) => type === 'ticket');
  const found = dice.chance(80) ? dice.recent(ofTickets) : dice.recent([...state.records.values()]);
  if (found !== undefined && dice.chance(97)) return found;
  return { id: dice.uuid(), revision: 1, type: 'ticket', workflow: 'new' };
}

function move(dice: Dice, state: State, run: string): Extract<Op, { kind: 'move' }> {
  const { id, revision: present, workflow } = target(dice, state);
  const fitting = TRANSITIONS.filter(({ from }) => from.some((code) => code === workflow));
  const transition = dice.chance(85) && fitting.length > 0 ? dice.one(fitting) : dice.one(TRANSITIONS);
  const given: Record<string, unknown> = {};
  for (const code of Object.keys(transition.form)) {
    if (dice.chance(transition.form[code] === true ? 85 : 30))
      given[code] = code === '$reason' ? dice.one(['because', 'why not', ' ']) : value(dice, state, run, code);
  }
  if (dice.chance(3)) given['kind'] = 'a';
  return {
    kind: 'move',
    objectId: id,
    transition: transition.code,
    expectedRevision: revision(dice, present),
    expectedState: dice.chance(92) ? (workflow ?? 'new') : dice.one(['new', 'work', 'wait', 'done']),
    values: given,
  };
}

function create(dice: Dice, state: State, run: string): Op {
  const type = dice.one<TypeCode>(['ticket', 'ticket', 'ticket', 'ticket', 'part', 'part', 'word']);
  const given = { ...values(dice, state, run, type, 4) };
  if (dice.chance(93)) given['title'] = dice.one(['One', 'Two', 'Three']);
  if (type !== 'word' && dice.chance(60)) given['kind'] = 'a';
  if (dice.chance(95)) given['run'] = run;
  const used = dice.chance(10) ? dice.recent([...state.records.keys()]) : undefined;
  return { kind: 'create', type, values: given, ...(dice.chance(50) ? { objectId: used ?? dice.uuid() } : {}) };
}

const FILTERS: readonly Filter[] = [
  { field: 'escalated', operator: 'equals', value: true },
  { field: 'count', operator: 'range', value: [0, 499] },
  { field: 'count', operator: 'is-empty', value: true },
  { field: 'kind', operator: 'in', value: ['a', 'b'] },
  { field: 'kind', operator: 'not-equals', value: 'b' },
  { field: 'tags', operator: 'contains', value: 'x' },
];

const MALFORMED: readonly ((id: string) => Omit<Extract<Op, { kind: 'malformed' }>, 'kind'>)[] = [
  (id) => ({ method: 'PATCH', path: `/objects/${id}`, body: { expectedRevision: '1', changes: { title: 'x' } } }),
  (id) => ({ method: 'PATCH', path: `/objects/${id}`, body: { expectedRevision: 1, changes: {} } }),
  (id) => ({
    method: 'PATCH',
    path: `/objects/${id}`,
    body: { expectedRevision: 1, changes: { title: 'x' }, more: 1 },
  }),
  (id) => ({ method: 'DELETE', path: `/objects/${id}`, body: { expectedRevision: 0 } }),
  (id) => ({ method: 'POST', path: `/objects/${id}/comments`, body: { body: '' } }),
  (id) => ({ method: 'POST', path: `/objects/${id}/relations`, body: { definitionId: id, targetObjectId: 'x' } }),
  () => ({ method: 'POST', path: '/objects', body: { typeDefinitionId: 'ticket' } }),
  () => ({ method: 'POST', path: '/bulk', body: { operation: 'update', items: [] } }),
];

const names = (dice: Dice, run: string, prefix: string): string =>
  `${prefix}-${run}-${dice.chance(20) ? 0 : dice.below(1e6)}`;

type Make = (dice: Dice, state: State, run: string) => Op | undefined;

const bulkItems = <T>(dice: Dice, make: () => T): T[] => Array.from({ length: 1 + dice.below(4) }, make);

/** How often each operation comes, and how it is made. */
const MAKERS: readonly [number, Make][] = [
  [14, create],
  [6, (dice, state) => ({ kind: 'read', objectId: target(dice, state).id })],
  [16, update],
  [2, (dice, state) => archive(dice, state)],
  [1, (dice, state) => ({ kind: 'restore', objectId: target(dice, state).id })],
  [14, move],
  [3, (dice, state) => ({ kind: 'workflow', objectId: target(dice, state).id })],
  [
    4,
    (dice, state, run) => ({
      kind: 'bulk-update',
      items: bulkItems(dice, () => withoutKind(update(dice, state, run))),
    }),
  ],
  [1, (dice, state) => ({ kind: 'bulk-archive', items: bulkItems(dice, () => withoutKind(archive(dice, state))) })],
  [3, (dice, state, run) => ({ kind: 'bulk-move', items: bulkItems(dice, () => withoutKind(move(dice, state, run))) })],
  [
    3,
    (dice) => {
      const type = dice.one<TypeCode>(['ticket', 'ticket', 'part', 'word']);
      const states = ['ACTIVE', 'ARCHIVED', ...(type === 'ticket' ? ['new', 'work', 'wait', 'done'] : [])];
      return { kind: 'list', type, state: dice.one(states) };
    },
  ],
  [4, (dice, _, run) => ({ kind: 'search', run, ...(dice.chance(50) ? {} : { filter: dice.one(FILTERS) }) })],
  [4, (dice, state) => ({ kind: 'history', objectId: target(dice, state).id })],
  [
    8,
    (dice, state) => {
      const visibility = dice.one(['public', 'public', 'internal', undefined] as const);
      const objectId = target(dice, state).id;
      return {
        kind: 'comment',
        objectId,
        body: dice.one(['Hello', 'Thanks', 'Why?']),
        ...(visibility === undefined ? {} : { visibility }),
      };
    },
  ],
  [4, editComment],
  [2, archiveComment],
  [3, (dice, state) => ({ kind: 'comments', objectId: target(dice, state).id })],
  [
    9,
    (dice, state) => ({
      kind: 'relate',
      objectId: target(dice, state).id,
      definition: dice.one(DEFINITIONS).code,
      target: dice.chance(25) ? someId(dice, state, 'records') : target(dice, state).id,
    }),
  ],
  [
    3,
    (dice, state) => {
      const found = dice.recent([...state.relations.values()]);
      return found && { kind: 'unrelate', relationId: found.id, expectedRevision: revision(dice, found.revision) };
    },
  ],
  [2, (dice, state) => ({ kind: 'relations', objectId: target(dice, state).id })],
  [2, (dice, state) => ({ kind: 'sla', objectId: target(dice, state).id })],
  [
    3,
    (dice, state) => {
      const record = state.records.get(target(dice, state).id);
      if (record === undefined || record.sla.length === 0) return undefined;
      return { kind: 'sla-command', objectId: record.id, command: dice.one(['pause', 'resume', 'stop'] as const) };
    },
  ],
  [
    2,
    (dice, state, run) => ({ kind: 'user', login: names(dice, run, 'u'), ...optional(dice, state, 'users', 'userId') }),
  ],
  [
    3,
    (dice, state, run) => ({
      kind: 'group',
      code: names(dice, run, 'g'),
      ...optional(dice, state, 'groups', 'groupId'),
    }),
  ],
  [
    2,
    (dice, state, run) => ({ kind: 'unit', code: names(dice, run, 'o'), ...optional(dice, state, 'units', 'unitId') }),
  ],
  [
    6,
    (dice, state) => {
      const memberType = dice.one(['user', 'group'] as const);
      const member = someId(dice, state, memberType === 'user' ? 'users' : 'groups');
      return { kind: 'member', group: someId(dice, state, 'groups'), member, memberType };
    },
  ],
  [
    3,
    (dice, state) => {
      const user = someId(dice, state, 'users');
      const from = dice.chance(80) ? state.places.get(user) : dice.recent([...state.units.keys()]);
      return { kind: 'place', unit: someId(dice, state, 'units'), user, ...(from === undefined ? {} : { from }) };
    },
  ],
  [1, () => ({ kind: 'users' })],
  [2, (dice, state) => ({ kind: 'malformed', ...dice.one(MALFORMED)(target(dice, state).id) })],
];

function optional<Name extends string>(
  dice: Dice,
  state: State,
  table: 'users' | 'groups' | 'units',
  name: Name,
): { [Key in Name]?: string } {
  if (!dice.chance(50)) return {};
  const used = dice.chance(10) ? dice.recent([...state[table].keys()]) : undefined;
  return { [name]: used ?? dice.uuid() } as { [Key in Name]?: string };
}

function withoutKind<T extends { kind: string }>(op: T): Omit<T, 'kind'> {
  const { kind, ...rest } = op;
  void kind;
  return rest;
}

function update(dice: Dice, state: State, run: string): Extract<Op, { kind: 'update' }> {
  const { id, revision: present, type } = target(dice, state);
  return {
    kind: 'update',
    objectId: id,
    expectedRevision: revision(dice, present),
    changes: values(dice, state, run, type, 2),
  };
}

function archive(dice: Dice, state: State): Extract<Op, { kind: 'archive' }> {
  const { id, revision: present } = target(dice, state);
  return { kind: 'archive', objectId: id, expectedRevision: revision(dice, present) };
}

/** A comment that a call made; the ids of those that rules made are not known. */
function someComment(dice: Dice, state: State): { id: string; revision: number } | undefined {
  return dice.recent([...state.comments.values()].filter(({ id }) => !id.startsWith('by rule')));
}

function editComment(dice: Dice, state: State): Op | undefined {
  const found = someComment(dice, state);
  if (found === undefined) return undefined;
  const visibility = dice.chance(40) ? { visibility: dice.one(['public', 'internal'] as const) } : {};
  const body = dice.chance(60) || visibility.visibility === undefined ? { body: dice.one(['Hello', 'Edited']) } : {};
  return {
    kind: 'edit-comment',
    commentId: found.id,
    expectedRevision: revision(dice, found.revision),
    ...body,
    ...visibility,
  };
}

function archiveComment(dice: Dice, state: State): Op | undefined {
  const found = someComment(dice, state);
  return found && { kind: 'archive-comment', commentId: found.id, expectedRevision: revision(dice, found.revision) };
}

const TOTAL = MAKERS.reduce((sum, [weight]) => sum + weight, 0);

/** @returns a call that fits the state; undefined if nothing is there on which the chosen operation works */
export function randomCall(dice: Dice, state: State, run: string): Call | undefined {
  let chosen = dice.below(TOTAL);
  const [, make] = MAKERS.find(([weight]) => (chosen -= weight) < 0) as [number, Make];
  const op = make(dice, state, run);
  if (op === undefined) return undefined;
  const who: Caller = dice.chance(60) ? 'chief' : dice.one(CALLERS);
  if (!IDEMPOTENT.includes(op.kind) || !dice.chance(30)) return { who, op };
  return { who, op, idempotencyKey: `${run}-${dice.below(4)}` };
}

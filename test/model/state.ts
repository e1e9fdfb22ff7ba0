/** What the reference model remembers. States are never changed: each call makes a new one, so that orders can be compared. */
import type { Caller, StateCode, TypeCode } from './world.ts';

export type Values = Readonly<Record<string, unknown>>;

/** An event of a record as the model expects it in the history. */
export interface Event {
  type: string;
  revision: number;
  /** Codes of the changed fields, sorted. */
  fields: readonly string[];
  /** The comment or the relation that the event is about. */
  about?: string;
}

/** An interval in which the time of an SLA instance stands still. */
export interface Pause {
  from: number;
  to: number | null;
  by: 'policy' | 'manual' | 'archive';
}

export interface SlaInstance {
  startedAt: number;
  stoppedAt: number | null;
  pauses: readonly Pause[];
  /** A manual resume or stop holds until the condition that it contradicts was false once. */
  ignoresPause: boolean;
}

export interface RecordState {
  id: string;
  type: TypeCode;
  values: Values;
  revision: number;
  archived: boolean;
  workflow: StateCode | null;
  createdAt: number;
  updatedAt: number;
  number: string | null;
  history: readonly Event[];
  sla: readonly SlaInstance[];
  /** True after a manual stop, until the start condition was false once. */
  ignoresStart: boolean;
}

export interface CommentState {
  id: string;
  objectId: string;
  body: string;
  visibility: 'public' | 'internal';
  revision: number;
  archived: boolean;
  author: Caller;
}

export interface RelationState {
  id: string;
  definition: string;
  source: string;
  target: string;
  revision: number;
  archived: boolean;
}

export interface Named {
  id: string;
  /** Login or code, in lower case. */
  code: string;
}

export interface Member {
  id: string;
  group: string;
  member: string;
}

/** A stored answer to a call with an idempotency key. */
export interface Stored {
  body: unknown;
  status: number;
  data: unknown;
}

export interface State {
  now: number;
  records: ReadonlyMap<string, RecordState>;
  /** In the order of their creation, as relations and events. */
  comments: ReadonlyMap<string, CommentState>;
  relations: ReadonlyMap<string, RelationState>;
  users: ReadonlyMap<string, Named>;
  groups: ReadonlyMap<string, Named>;
  units: ReadonlyMap<string, Named>;
  members: ReadonlyMap<string, Member>;
  /** User → unit. */
  places: ReadonlyMap<string, string>;
  stored: ReadonlyMap<string, Stored>;
}

type Table = 'records' | 'comments' | 'relations' | 'users' | 'groups' | 'units' | 'members' | 'places' | 'stored';

/** The state with one more or one changed entry. */
export function having<T extends Table>(
  state: State,
  table: T,
  key: string,
  value: State[T] extends ReadonlyMap<string, infer V> ? V : never,
): State {
  const changed = new Map<string, unknown>(state[table]);
  changed.set(key, value);
  return { ...state, [table]: changed };
}

/** The fixed parts of the installation. */
export interface Installation {
  /** Ids of the users. */
  people: Readonly<Record<Caller, string>>;
  /** Id of the group that gives a role. */
  keepers: string;
  /** Ids of transitions and workflow states by code. */
  transitions: Readonly<Record<string, string>>;
  states: Readonly<Record<StateCode, string>>;
  /** Ids of relation definitions by code. */
  definitions: Readonly<Record<string, string>>;
}

export function emptyState(now: number, { people, keepers }: Installation): State {
  return {
    now,
    records: new Map(),
    comments: new Map(),
    relations: new Map(),
    users: new Map(Object.entries(people).map(([code, id]) => [id, { id, code }])),
    groups: new Map([[keepers, { id: keepers, code: 'keepers' }]]),
    units: new Map(),
    members: new Map(),
    places: new Map(),
    stored: new Map(),
  };
}

/**
 * A loaded record with everything that a decision needs: its type, the caller's rights on it, its facts for conditions. Only
 * this module makes these values; holding one proves that the caller's rights were evaluated.
 */
import type { ItemState } from '../../contract/state.ts';
import type { RecordAction } from '../../contract/rights.ts';
import type { RecordFacts, SystemFacts } from '../../lib/filter.ts';
import type { ReadContext, RecordRight } from '../../platform/unit-of-work/context.ts';
import {
  mismatchedVersions,
  named,
  type RecordType,
  registry,
  type StateView,
  titleText,
  type TypeVersion,
  versionOf,
} from '../metadata/index.ts';
import { derive } from './rules.ts';
import type { ObjectRow } from './store.ts';

declare const seen: unique symbol;

/**
 * A loaded record with the caller's rights on it. `findVisible` and `requireVisible` return only records that the caller may
 * read.
 */
export interface VisibleObject {
  readonly row: ObjectRow;
  readonly type: RecordType;
  readonly version: TypeVersion;
  readonly state: StateView | null;
  readonly facts: RecordFacts;
  readonly right: RecordRight;
  readonly [seen]: true;
}

declare const checked: unique symbol;

/**
 * A record for which the caller's right to the action was checked. Only `requireAction` returns one; write functions require
 * it.
 */
export interface Authorized<Action extends RecordAction> extends VisibleObject {
  readonly [checked]: Action;
}

type FactsRow = Omit<ObjectRow, 'createdByName' | 'updatedByName' | 'archivedAt'>;

/**
 * Facts of a stored or planned record, the input of conditions. What few conditions use is computed on demand. This is a class
 * because an object literal with getters makes a new hidden class of the engine each time.
 */
class StoredFacts implements RecordFacts {
  readonly values: Readonly<Record<string, unknown>>;
  readonly mismatched?: (code: string) => boolean;
  readonly #row: FactsRow;
  readonly #type: RecordType;
  readonly #version: TypeVersion;
  readonly #state: StateView | null;
  #folded: RecordFacts['folded'] | undefined;
  #system: SystemFacts | undefined;

  constructor(row: FactsRow, type: RecordType, version: TypeVersion, state: StateView | null) {
    this.values = row.values;
    this.#row = row;
    this.#type = type;
    this.#version = version;
    this.#state = state;
    this.#folded = row.folded;
    if (row.typeVersion === type.newest.version) return;
    this.mismatched = (code) => mismatchedVersions(type, code).includes(row.typeVersion);
  }

  get folded(): RecordFacts['folded'] {
    this.#folded ??= derive(this.#version, this.values).folded;
    return this.#folded;
  }

  get system(): SystemFacts {
    const row = this.#row;
    this.#system ??= {
      id: row.id,
      number: row.number,
      title: row.title,
      typeId: row.typeId,
      typeCode: this.#type.code,
      state: row.state,
      workflowState: this.#state?.code ?? null,
      workflowCategory: this.#state?.category ?? null,
      revision: row.revision,
      createdAt: row.createdAt,
      createdBy: row.createdBy,
      updatedAt: row.updatedAt,
      updatedBy: row.updatedBy,
    };
    return this.#system;
  }
}

export function factsOf(row: FactsRow, type: RecordType, version: TypeVersion, state: StateView | null): RecordFacts {
  return new StoredFacts(row, type, version, state);
}

/** A record with its facts for conditions, without the rights of a caller. */
export type RecordView = Pick<VisibleObject, 'row' | 'type' | 'version' | 'state' | 'facts'>;

/** The type, version and workflow state that a row names. */
export function kindOf(
  ctx: ReadContext,
  row: Pick<ObjectRow, 'id' | 'typeId' | 'typeVersion' | 'workflowStateId'>,
): Pick<RecordView, 'type' | 'version' | 'state'> {
  const types = registry(ctx);
  const type = types.byId.get(row.typeId);
  if (type === undefined) throw new Error(`record ${row.id} has an unknown type`);
  const state = row.workflowStateId === null ? null : (types.states.get(row.workflowStateId) ?? null);
  return { type, version: versionOf(types, row.typeId, row.typeVersion), state };
}

export function viewOf(ctx: ReadContext, row: ObjectRow): RecordView {
  const { type, version, state } = kindOf(ctx, row);
  return { row, type, version, state, facts: factsOf(row, type, version, state) };
}

type Changes = Readonly<Record<string, readonly [unknown, unknown]>>;

/** The record before the changes, given in their order. */
export function viewBefore(ctx: ReadContext, view: RecordView, changes: readonly Changes[]): RecordView {
  const ends = changes.toReversed().flatMap((change) => Object.entries(change));
  return viewWith(
    ctx,
    view,
    ends.map(([code, [before]]) => [code, before]),
  );
}

/** The record after the changes. */
export function viewAfter(ctx: ReadContext, view: RecordView, changes: Changes): RecordView {
  return viewWith(
    ctx,
    view,
    Object.entries(changes).map(([code, [, after]]) => [code, after]),
  );
}

/** The record with these values of fields and states, of which the last one of a code counts. */
function viewWith(ctx: ReadContext, view: RecordView, ends: readonly (readonly [string, unknown])[]): RecordView {
  const values = { ...view.row.values };
  let { state } = view.row;
  let workflowState = view.state;
  const states = [...(view.version.workflow?.states.values() ?? []), ...registry(ctx).states.values()];
  for (const [code, value] of ends) {
    if (code === 'state') state = value as ItemState;
    else if (code === 'workflowState') workflowState = states.find((one) => one.code === value) ?? null;
    else if (value === null) delete values[code];
    else values[code] = value;
  }
  const { folded: _folded, ...unfolded } = view.row;
  const row = { ...unfolded, title: titleText(view.version, values), values, state };
  return { ...view, row, state: workflowState, facts: factsOf(row, view.type, view.version, workflowState) };
}

/** Facts about the last change of a record. */
export type LastChange = Pick<ObjectRow, 'revision' | 'updatedAt' | 'updatedBy'>;

/** The same values with other facts about the last change. */
export function viewChangedBy(view: RecordView, { revision, updatedAt, updatedBy }: LastChange): RecordView {
  const row = { ...view.row, revision, updatedAt, updatedBy };
  return { ...view, row, facts: factsOf(row, view.type, view.version, view.state) };
}

/** Evaluates the caller's rights on a row. The result may be unreadable: check `right.can('read')`. */
export function evaluateAccess(ctx: ReadContext, row: ObjectRow): VisibleObject {
  const view = viewOf(ctx, row);
  const right = ctx.actor.on(view.type.id, view.facts, ctx.now);
  return { ...view, right } as VisibleObject;
}

export interface Person {
  id: string;
  displayName: string;
}

export interface WorkflowStateAnswer {
  id: string;
  code: string;
  name: string;
  category: string;
}

/** A record in API answers (docs/spec/records.md#values). */
export interface ObjectAnswer {
  id: string;
  typeDefinitionId: string;
  typeCode: string;
  number: string | null;
  title: string | null;
  revision: number;
  state: ItemState;
  workflowState: WorkflowStateAnswer | null;
  values: Record<string, unknown>;
  createdAt: string;
  createdBy: Person | null;
  updatedAt: string;
  updatedBy: Person | null;
  archivedAt?: string;
}

export function stateAnswer(ctx: ReadContext, state: StateView | null): WorkflowStateAnswer | null {
  if (state === null) return null;
  return { id: state.id, code: state.code, name: named(ctx, state.name), category: state.category };
}

/** The title, or null if the caller may not read the title field. */
export function readableTitle(object: VisibleObject): string | null {
  const field = object.version.titleField;
  return field !== null && object.right.canRead(field) ? object.row.title : null;
}

/** The values that the caller may read on this record. No other values leave this module. */
export function readableValues(object: VisibleObject): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const code of object.version.fields.keys()) {
    if (Object.hasOwn(object.row.values, code) && object.right.canRead(code)) values[code] = object.row.values[code];
  }
  return values;
}

function person(id: string | null, name: string | null): Person | null {
  return id === null ? null : { id, displayName: name ?? '' };
}

/** What of a stored record answers contain besides its values. */
type AnswerRow = Omit<ObjectRow, 'values' | 'folded'>;

/** The only form of a record in answers. `values` and `title` are what the caller may read. */
export function answerOf<Values>(
  ctx: ReadContext,
  row: AnswerRow,
  { type, state }: Pick<RecordView, 'type' | 'state'>,
  { title, values }: { title: string | null; values: Values },
): Omit<ObjectAnswer, 'values'> & { values: Values } {
  return {
    id: row.id,
    typeDefinitionId: row.typeId,
    typeCode: type.code,
    number: row.number,
    title,
    revision: row.revision,
    state: row.state,
    workflowState: stateAnswer(ctx, state),
    values,
    createdAt: row.createdAt,
    createdBy: person(row.createdBy, row.createdByName),
    updatedAt: row.updatedAt,
    updatedBy: person(row.updatedBy, row.updatedByName),
    ...(row.archivedAt === null ? {} : { archivedAt: row.archivedAt }),
  };
}

/** The projection of one record into an answer. An unreadable record shows no value. */
export function project(ctx: ReadContext, object: VisibleObject): ObjectAnswer {
  const shown = object.right.can('read')
    ? { title: readableTitle(object), values: readableValues(object) }
    : { title: null, values: {} };
  return answerOf(ctx, object.row, object, shown);
}

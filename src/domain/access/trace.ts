/**
 * An actor that records every check of its rights, for the explanation of a request. It can also answer chosen checks as if
 * they were granted, to find out which missing rights a refusal is due to. It is used in dry runs only.
 */
import type { FieldAccess, GlobalRight, RecordAction } from '../../contract/rights.ts';
import type { Fault } from '../../lib/fault.ts';
import type { RecordFacts } from '../../lib/filter.ts';
import type { Actor, RecordRight } from '../../platform/unit-of-work/context.ts';
import { everyRecord, rightMissing } from './actor.ts';

/** What a check is about: a record, or with `facts` null any record of the type. */
export interface CheckedRecord {
  typeId: string;
  /** Id and revision of the record, `new` for one that the request creates, `*` for any. */
  record: string;
  facts: RecordFacts | null;
}

export type CheckedRight =
  | { kind: 'scope'; scope: string }
  /** `required`: without the right, the request is refused. Other checks only decide how much it answers. */
  | { kind: 'right'; right: GlobalRight; required: boolean }
  | { kind: 'action'; place: CheckedRecord; action: RecordAction }
  | { kind: 'field'; place: CheckedRecord; field: string; access: 'read' | 'write' }
  | { kind: 'transition'; place: CheckedRecord; transition: string }
  /** A statement selects the records on which the action is allowed. */
  | { kind: 'records'; action: RecordAction };

export type Check = CheckedRight & {
  /** Identifies the check in repeated runs. */
  key: string;
  /** Whether the user has the right. */
  held: boolean;
};

function keyOf(checked: CheckedRight): string {
  switch (checked.kind) {
    case 'scope':
      return `scope ${checked.scope}`;
    case 'right':
      return `right ${checked.right}`;
    case 'records':
      return `records ${checked.action}`;
    case 'action':
      return `action ${checked.place.typeId} ${checked.place.record} ${checked.action}`;
    case 'field':
      return `field ${checked.place.typeId} ${checked.place.record} ${checked.access} ${checked.field}`;
    case 'transition':
      return `transition ${checked.place.typeId} ${checked.place.record} ${checked.transition}`;
  }
}

/** The checks of one run, each once, in the order in which they were first made. */
export class Trace {
  readonly checks = new Map<string, Check>();
  readonly #granted: ReadonlySet<string>;
  /** The last check that was denied. */
  denied: string | undefined;

  /** @param granted keys of the checks that are answered as granted */
  constructor(granted: ReadonlySet<string>) {
    this.#granted = granted;
  }

  /** Records the check. @returns the answer: whether the right is held, or treated as granted */
  answer(checked: CheckedRight, held: boolean): boolean {
    const key = keyOf(checked);
    const known = this.checks.get(key);
    const required = checked.kind === 'right' && checked.required;
    if (known === undefined || required) this.checks.set(key, { ...checked, key, held });
    if (held || this.#granted.has(key)) return true;
    this.denied = key;
    return false;
  }
}

/** How a run of the request ended. */
export interface Outcome {
  status: number;
  fault: Fault | undefined;
  checks: ReadonlyMap<string, Check>;
  /** The last denied check. */
  denied: string | undefined;
}

/** An actor with the same rights that records each check. @param typeIds all types */
export function tracedActor(actor: Actor, typeIds: readonly string[], trace: Trace): Actor {
  const mayEver = (typeId: string, action: RecordAction): boolean => {
    const place = { typeId, record: '*', facts: null };
    return trace.answer({ kind: 'action', place, action }, actor.mayEver(typeId, action));
  };
  const fieldsOf = (place: CheckedRecord, access: FieldAccess): FieldAccess => ({
    canRead: (field) => trace.answer({ kind: 'field', place, field, access: 'read' }, access.canRead(field)),
    canWrite: (field) => trace.answer({ kind: 'field', place, field, access: 'write' }, access.canWrite(field)),
  });
  const has = (right: GlobalRight, required: boolean): boolean =>
    trace.answer({ kind: 'right', right, required }, actor.has(right));
  return {
    userId: actor.userId,
    isTraced: true,
    displayName: actor.displayName,
    roles: actor.roles,
    interfaces: actor.interfaces,
    variables: actor.variables,
    unitsAbove: actor.unitsAbove,
    names: actor.names,
    has: (right) => has(right, false),
    require: (right) => {
      if (!has(right, true)) throw rightMissing(right);
    },
    on: (typeId, facts, now): RecordRight => {
      const right = actor.on(typeId, facts, now);
      // Ids of new records differ from run to run. A change may alter the rights on the record: each revision is a place.
      const { id, revision, createdAt } = facts.system;
      const record = createdAt === now ? 'new' : `${id}@${revision}`;
      const place = { typeId, record, facts };
      return {
        ...fieldsOf(place, right),
        can: (action) => trace.answer({ kind: 'action', place, action }, right.can(action)),
        canTransition: (transition) =>
          trace.answer({ kind: 'transition', place, transition }, right.canTransition(transition)),
      };
    },
    mayEver,
    alwaysMay: (typeId, action) => actor.alwaysMay(typeId, action),
    fieldAccess: (typeId) => {
      const access = actor.fieldAccess(typeId);
      const { canAlwaysRead, ruleOf, whereReadable } = access;
      return { ...fieldsOf({ typeId, record: '*', facts: null }, access), canAlwaysRead, ruleOf, whereReadable };
    },
    typesFor: (action) => typeIds.filter((typeId) => mayEver(typeId, action)),
    visible: (alias, action, now, among) => {
      const visible = actor.visible(alias, action, now, among);
      if (!trace.answer({ kind: 'records', action }, false)) return visible;
      return everyRecord(alias, among);
    },
    rule: (action, among) => {
      const rule = actor.rule(action, among);
      if (!trace.answer({ kind: 'records', action }, false)) return rule;
      return new Map([...(among ?? typeIds)].map((typeId) => [typeId, null]));
    },
  };
}

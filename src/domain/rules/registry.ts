/** Rules as they are stored, and as they are run: compiled once per configuration, indexed by record type and event. */
import type { CommentVisibility } from '../../contract/comment-visibility.ts';
import { isAbout, RULE_EVENTS, type RuleEvent } from '../../contract/events.ts';
import { isEventField, isFieldList, withEventFields } from '../../contract/rule-fields.ts';
import { isActive } from '../../contract/state.ts';
import {
  type Condition,
  conditionFor,
  fieldsOf,
  leavesOf,
  parseCondition,
  type TypedCondition,
  variablesOf,
} from '../../lib/filter.ts';
import { descriptorOf } from '../../lib/data-types/index.ts';
import { isFault } from '../../lib/fault.ts';
import type { ConfigSource, ConfigSnapshot, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import { fieldResolver, type LocalizedText, type RecordType, typeView } from '../metadata/index.ts';

export const ACTION_KINDS = ['set', 'comment', 'transition', 'create', 'notify', 'post'] as const;

/** An action as a bundle writes it, with exactly one of these. */
export interface ActionDefinition {
  set?: Record<string, unknown>;
  comment?: { visibility: CommentVisibility; body: LocalizedText };
  /** Code of a transition. */
  transition?: string;
  /** The reason of the transition. */
  reason?: LocalizedText;
  /** Codes of a record type and of a relation definition from the record to the created one. */
  create?: { type: string; relation?: string; values?: Record<string, unknown> };
  /** Codes of fields with users or groups, and of the template of the mail. */
  notify?: { to: string[]; template?: string };
  /** Code of a webhook, and JSON whose texts can have placeholders. */
  post?: { connection: string; body: Record<string, unknown> };
}

/** When a time-based rule fires: `duration` of open time after `since` changed last, if `while` holds then. */
export interface AfterDefinition {
  /** ISO 8601, in hours, minutes and seconds. */
  duration: string;
  /** Code of the calendar whose open time counts; without one, all time counts. */
  calendar?: string;
  /** The code of a datetime field, or `workflowState`: when the record came to its state. */
  since: string;
  while?: Condition;
}

/** Contains codes and a login. */
export interface RuleDefinition {
  code: string;
  name: LocalizedText;
  enabled: boolean;
  /** Place among the rules that one event fires: the lowest first. Absent: 0. */
  order?: number;
  /** Empty for a time-based rule. */
  on: RuleEvent[];
  after?: AfterDefinition;
  types: string[];
  /** Login of the user with whose rights the rule runs. */
  runAs: string;
  when?: Condition;
  once: 'becomes-true' | 'every-time';
  do: ActionDefinition[];
  /** What a failure does: it is noted in the log of the rule, or the change that fired the rule is refused. */
  onError: 'note' | 'refuse';
}

/** Compares rules by the order in which one event fires them. Of rules with the same order, the lower code is first. */
export function inOrder(one: Pick<RuleDefinition, 'order' | 'code'>, other: typeof one): number {
  return (one.order ?? 0) - (other.order ?? 0) || (one.code < other.code ? -1 : 1);
}

export type CompiledAction =
  | { kind: 'set'; set: Record<string, unknown> }
  | { kind: 'comment'; visibility: CommentVisibility; body: LocalizedText }
  | { kind: 'transition'; transition: string; reason: LocalizedText | null }
  /** `filled`: field code → text with placeholders for values of the record that fired the rule. */
  | {
      kind: 'create';
      type: string;
      relation: string | null;
      set: Record<string, unknown>;
      filled: Record<string, string>;
    }
  | { kind: 'notify'; to: string[]; templateId?: string }
  | { kind: 'post'; connectionId: string | null; body: Record<string, unknown> };

/** With ids instead of logins, and of the codes of the types that it is for. */
export interface CompiledRule extends Omit<RuleDefinition, 'types' | 'runAs' | 'when' | 'do' | 'after'> {
  typeIds: string[];
  after?: { ms: number; calendarId: string | null; since: string };
  /** Null if the user did not exist. */
  runAsId: string | null;
  /** For a time-based rule, with what must hold when it fires. */
  when: Condition | null;
  do: CompiledAction[];
}

/** A rule for records of one type. */
export interface Rule extends Omit<CompiledRule, 'when' | 'typeIds' | 'runAsId'> {
  id: string;
  runAsId: string;
  /** Null: it fires on each event. */
  when: TypedCondition | null;
  /** A part of the condition that is quick to check: without one of these values, it cannot hold. */
  requires: RequiredValue | undefined;
  /** Whether the result of the condition depends on who evaluates it. */
  dependsOnActor: boolean;
  /** Whether the condition names facts about records, and not only about events. */
  namesRecord: boolean;
}

/** A time-based rule for records of one type. */
export interface TimedRule extends Rule {
  /** Version of the rule in the configuration. */
  version: number;
  /** When this version came into force. */
  changedAt: string;
  after: NonNullable<CompiledRule['after']>;
}

/** The value of `since` that stands for the time of the last change of the workflow state. */
export const SINCE_STATE = 'workflowState';

export interface RequiredValue {
  /** Code of a field that is not multiple. */
  field: string;
  values: ReadonlySet<unknown>;
}

/** The first required comparison of a field with values that are stored as they are compared. */
export function requiredValue(when: TypedCondition | null): RequiredValue | undefined {
  if (when === null) return undefined;
  if ('logic' in when) {
    if (when.logic === 'OR') return undefined;
    for (const part of when.conditions) {
      const found = requiredValue(part);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const { field, operator } = when;
  if (field.kind !== 'value' || field.multiple || descriptorOf(field.dataType).comparable !== undefined)
    return undefined;
  const operands = operator === 'equals' ? [when.value] : operator === 'in' ? when.values : [];
  const values = operands.flatMap((operand) => ('literal' in operand ? [operand.literal] : []));
  return values.length === 0 || values.length < operands.length
    ? undefined
    : { field: field.code, values: new Set<unknown>(values) };
}

export interface RuleIndex {
  /** The events that any rule reacts to. */
  events: ReadonlySet<string>;
  /** Whether some of them are SLA events. */
  hasSla: boolean;
  /** Type id → event → enabled rules, in the order in which they run. */
  byType: ReadonlyMap<string, ReadonlyMap<string, readonly Rule[]>>;
  /** Type id → enabled time-based rules. */
  timed: ReadonlyMap<string, readonly TimedRule[]>;
}

/** Parses the condition for records of the type. @throws Fault INVALID_FILTER */
function conditionOf(when: Condition | null, type: RecordType, onTime: boolean): TypedCondition | null {
  if (when === null) return null;
  const own = fieldResolver(type);
  const resolve = onTime ? own : withEventFields(own, type.newest.fields.keys());
  return parseCondition(conditionFor(when, type.code), { resolve, variables: 'allowed' });
}

/**
 * Whether the condition denies that fields changed or hold the actor. The lists of these fields are limited by rights, so a right
 * that is missing can make it true.
 */
function deniesFields(when: TypedCondition | null): boolean {
  if (when === null) return false;
  return [...leavesOf(when)].some(
    ({ field, operator }) =>
      field.kind === 'system' && isFieldList(field.code) && (operator === 'not-equals' || operator === 'is-empty'),
  );
}

/** The rule for records of the type; undefined if it cannot run. */
export function ruleOf(id: string, compiled: CompiledRule, type: RecordType): Rule | undefined {
  const { runAsId, typeIds: _types, when: condition, ...rest } = compiled;
  if (runAsId === null) return undefined;
  let when: TypedCondition | null;
  try {
    when = conditionOf(condition, type, rest.after !== undefined);
  } catch (error) {
    // The type was archived, and has lost fields since.
    if (!type.active && isFault(error)) return undefined;
    throw error;
  }
  const variables = when === null ? [] : [...variablesOf(when)];
  const named = when === null ? [] : fieldsOf(when);
  return {
    ...rest,
    id,
    runAsId,
    when,
    requires: requiredValue(when),
    dependsOnActor: variables.some((name) => name !== 'now' && name !== 'today') || deniesFields(when),
    namesRecord: named.some((field) => !isEventField(field)),
  };
}

function build({ items }: ConfigSource, snapshot: ConfigSnapshot): RuleIndex {
  const types = snapshot.get(typeView);
  const byType = new Map<string, Map<string, Rule[]>>();
  const timed = new Map<string, TimedRule[]>();
  const events = new Set<string>();
  const stored = items
    .filter((item) => item.section === 'rules' && isActive(item))
    .map((item) => ({ ...item, definition: item.compiled as CompiledRule }))
    .toSorted((a, b) => inOrder(a.definition, b.definition));
  for (const { id, version, updatedAt: changedAt, definition } of stored) {
    if (!definition.enabled) continue;
    for (const typeId of definition.typeIds) {
      const type = types.byId.get(typeId);
      const rule = type === undefined ? undefined : ruleOf(id, definition, type);
      if (rule === undefined) continue;
      const { after } = rule;
      if (after !== undefined) {
        timed.set(typeId, [...(timed.get(typeId) ?? []), { ...rule, after, version, changedAt }]);
        continue;
      }
      const byEvent = byType.get(typeId) ?? new Map<string, Rule[]>();
      byType.set(typeId, byEvent);
      for (const event of rule.on) {
        events.add(event);
        byEvent.set(event, [...(byEvent.get(event) ?? []), rule]);
      }
    }
  }
  return { events, hasSla: RULE_EVENTS.some((type) => isAbout(type, 'sla') && events.has(type)), byType, timed };
}

export const rulesView: DerivedView<RuleIndex> = { name: 'rules', build };

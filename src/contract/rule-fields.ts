/**
 * What the conditions of rules may name besides the fields of records (docs/spec/rules.md): facts about the event
 * that a rule reacts to. They are system fields of the condition language; codes of record fields have no dots.
 */
import { RULE_EVENTS } from './events.ts';
import { COMMENT_VISIBILITIES } from './comment-visibility.ts';
import type { FieldResolver, FilterField } from '../lib/filter-types.ts';

/** The list of the fields that the event changed. */
export const CHANGED = 'changed';

/** The list of the fields of the record that hold the user who caused the event, such as its requester. */
export const ACTOR_IN = 'event.actorIn';
/** What `event.actorIn` holds besides codes of fields of the type `user`. */
const ACTOR_IN_SYSTEM = 'createdBy';

/** Facts about the event that are lists. `contains` compares with one of their elements. */
const LISTS: ReadonlySet<unknown> = new Set([CHANGED, ACTOR_IN]);

/** Whether the system field is a list of fields. */
export function isFieldList(code: string): boolean {
  return LISTS.has(code);
}

/** What `changed` holds besides field codes. */
const CHANGED_STATES = ['state', 'workflowState'] as const;

function system(code: string, dataType: FilterField['dataType'], options?: readonly string[]): [string, FilterField] {
  const field: FilterField = { code, kind: 'system', dataType, multiple: false };
  return [code, options === undefined ? field : { ...field, options: new Set(options) }];
}

export const EVENT_FIELDS: ReadonlyMap<string, FilterField> = new Map([
  system('event.type', 'enum', RULE_EVENTS),
  system('event.via', 'string'),
  system('event.actor', 'user'),
  system('comment.visibility', 'enum', COMMENT_VISIBILITIES),
]);

/** Adds the facts about the event. A field of the type with the code `changed` hides the list. */
export function withEventFields(resolve: FieldResolver, fields: Iterable<string>): FieldResolver {
  const codes = [...fields];
  const list = (code: string, options: readonly string[]): [string, FilterField] => [
    code,
    { code, kind: 'system', dataType: 'enum', multiple: true, options: new Set(options) },
  ];
  const lists = new Map([
    list(CHANGED, [...codes, ...CHANGED_STATES]),
    list(ACTOR_IN, [...codes.filter((code) => resolve(code)?.dataType === 'user'), ACTOR_IN_SYSTEM]),
  ]);
  return (code) => resolve(code) ?? EVENT_FIELDS.get(code) ?? lists.get(code);
}

/** Whether the field of a condition is a fact about the event. */
export function isEventField(field: Pick<FilterField, 'code' | 'kind'>): boolean {
  return field.kind === 'system' && (LISTS.has(field.code) || EVENT_FIELDS.has(field.code));
}

/** The condition with `contains` on a list of the event as `equals`: the language compares elements of a list with it. */
export function withChangedElements<T>(condition: T): T {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) return condition;
  const { conditions, field, operator } = condition as { conditions?: unknown; field?: unknown; operator?: unknown };
  if (Array.isArray(conditions)) return { ...condition, conditions: conditions.map(withChangedElements) };
  return LISTS.has(field) && operator === 'contains' ? { ...condition, operator: 'equals' } : condition;
}

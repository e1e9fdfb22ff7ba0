/** Static checks of rules for a plan: conditions that no event meets, and rules that fire each other. Pure. */
import { type RuleEvent } from '../../contract/events.ts';
import { rightForVisibility } from '../../contract/comment-visibility.ts';
import type { ItemPath } from '../../configuration/section.ts';
import type { RecordAction } from '../../contract/rights.ts';
import { CHANGED, withChangedElements } from '../../contract/rule-fields.ts';
import type { Condition, LeafCondition } from '../../lib/filter.ts';
import { isObject } from '../../lib/json.ts';
import { placeholders } from '../../lib/template.ts';
import type { LocalizedText } from '../metadata/index.ts';
import { occasionsOf } from './order.ts';
import type { ActionDefinition, RuleDefinition } from './registry.ts';

/** The conditions that must all hold. */
function required(condition: Condition | undefined): LeafCondition[] {
  if (condition === undefined) return [];
  if (!('logic' in condition)) return [condition];
  return condition.logic === 'AND' ? condition.conditions.flatMap(required) : [];
}

/** The fields that the condition names. */
function namedFields(condition: Condition): string[] {
  return 'logic' in condition ? condition.conditions.flatMap(namedFields) : [condition.field];
}

/** Every leaf of the condition. */
function leaves(condition: Condition | undefined): LeafCondition[] {
  if (condition === undefined) return [];
  return 'logic' in condition ? condition.conditions.flatMap(leaves) : [condition];
}

/** The values that the leaf allows; undefined if it is no comparison with plain values. */
function allowed({ operator, value }: LeafCondition): readonly unknown[] | undefined {
  const values = operator === 'equals' ? [value] : operator === 'in' && Array.isArray(value) ? value : undefined;
  return values?.some((one) => typeof one === 'string' && one.startsWith('$')) === true ? undefined : values;
}

const CHANGING: ReadonlySet<RuleEvent> = new Set([
  'ObjectCreated',
  'ObjectUpdated',
  'ObjectTransitioned',
  'ObjectArchived',
  'ObjectRestored',
]);

const STATES: readonly string[] = ['workflowState', 'workflowCategory', 'state'];

function isImpossible(leaf: LeafCondition, { on, types }: RuleDefinition): boolean {
  const values = allowed(leaf);
  switch (leaf.field) {
    case 'event.type':
      return values !== undefined && !on.some((event) => values.includes(event));
    case 'typeCode':
      return values !== undefined && !types.some((type) => values.includes(type));
    case 'comment.visibility':
      return leaf.operator !== 'is-empty' && !on.some((event) => event.startsWith('Comment'));
    case CHANGED:
      return leaf.operator !== 'is-empty' && leaf.operator !== 'not-equals' && !on.some((event) => CHANGING.has(event));
    default:
      return false;
  }
}

/** A field on which no event of the rule can meet the condition; undefined if none is found. */
export function unmeetableField(rule: RuleDefinition): string | undefined {
  const parts = required(rule.when);
  const impossible = parts.find((leaf) => isImpossible(leaf, rule));
  if (impossible !== undefined) return impossible.field;
  // A record has several values of a multiple field, which is not known here, so only states are compared.
  for (const field of [...STATES, 'event.type', 'comment.visibility']) {
    const lists = parts.filter((leaf) => leaf.field === field).flatMap((leaf) => [allowed(leaf) ?? []]);
    const [first = [], ...others] = lists.filter((list) => list.length > 0);
    if (first.length > 0 && !first.some((value) => others.every((list) => list.includes(value)))) return field;
  }
  return undefined;
}

/** Fields → the only values that they can have. */
type Known = ReadonlyMap<string, readonly unknown[]>;

/** The effect of an action on a record: the event that it emits, the type of a new record, and the fields that it changes. */
interface Emitted {
  event: RuleEvent;
  types: readonly string[];
  fields: readonly string[];
  /** What is known of the record and the comment then. */
  known: Known;
}

const NOTHING: Known = new Map();

/**
 * What is known of the record after the rule: states that its condition asks for, and values that it sets. A transition can
 * set fields of its own.
 *
 * @param keepsState whether the record is still in the state that the condition saw when the rule acts
 */
function knownAfter({ when, after, do: actions }: RuleDefinition, keepsState: boolean): Known {
  if (actions.some(hasTransition)) return NOTHING;
  const known = new Map<string, readonly unknown[]>();
  for (const leaf of keepsState ? [...required(when), ...required(after?.while)] : []) {
    const values = STATES.includes(leaf.field) ? allowed(leaf) : undefined;
    if (values !== undefined) known.set(leaf.field, values);
  }
  const sets = actions.flatMap(({ set }) => Object.entries(set ?? {}));
  for (const [field, values] of Map.groupBy(sets, ([code]) => code)) {
    const list = values.map(([, value]) => value);
    if (list.every(isConstant)) known.set(field, list);
  }
  return known;
}

function hasTransition({ transition }: ActionDefinition): boolean {
  return transition !== undefined;
}

/** Lists belong to multiple fields, of which a condition compares each value. */
function isConstant(value: unknown): boolean {
  return typeof value === 'string' ? !value.startsWith('$') && !value.includes('{{') : typeof value !== 'object';
}

function emitted(
  { set, comment, transition, create }: ActionDefinition,
  types: readonly string[],
  known: Known,
): Emitted[] {
  return [
    ...(set === undefined ? [] : [{ event: 'ObjectUpdated' as const, types, fields: Object.keys(set), known }]),
    ...(comment === undefined
      ? []
      : [
          {
            event: 'CommentAdded' as const,
            types,
            fields: [],
            known: new Map([...known, ['comment.visibility', [comment.visibility]]]),
          },
        ]),
    ...(transition === undefined
      ? []
      : [{ event: 'ObjectTransitioned' as const, types, fields: ['workflowState', 'workflowCategory'], known }]),
    ...(create === undefined
      ? []
      : [{ event: 'ObjectCreated' as const, types: [create.type], fields: [], known: NOTHING }]),
    ...(create?.relation === undefined ? [] : [{ event: 'RelationAdded' as const, types, fields: [], known }]),
  ];
}

/** What decides which events make a rule fire. Computed once for each rule: there can be hundreds. */
interface Reacting {
  rule: RuleDefinition;
  /** The event must be in each of these lists. */
  eventTypes: readonly (readonly unknown[])[];
  /** The comparisons with plain values that must hold. */
  needed: readonly { field: string; values: readonly unknown[] }[];
  /** The fields that the condition names, and whose changes it asks for. */
  fields: ReadonlySet<unknown>;
}

function reactingOf(rule: RuleDefinition): Reacting {
  const { when } = rule;
  if (when === undefined) return { rule, eventTypes: [], needed: [], fields: new Set() };
  const listsOf = (some: readonly LeafCondition[], field: string): (readonly unknown[])[] =>
    some.flatMap((leaf) => {
      const list = leaf.field === field ? allowed(leaf) : undefined;
      return list === undefined ? [] : [list];
    });
  const changed = listsOf(leaves(withChangedElements(when)), CHANGED).flat();
  return {
    rule,
    eventTypes: listsOf(required(when), 'event.type'),
    needed: required(when).flatMap((leaf) => {
      const values = allowed(leaf);
      return values === undefined ? [] : [{ field: leaf.field, values }];
    }),
    fields: new Set([...namedFields(when), ...changed]),
  };
}

/** Whether the event of one rule can make the other fire. */
function canFire(
  { event, types, fields, known }: Emitted,
  { rule, eventTypes, needed, fields: named }: Reacting,
): boolean {
  if (!rule.on.includes(event) || !rule.types.some((type) => types.includes(type))) return false;
  if (eventTypes.some((list) => !list.includes(event))) return false;
  if (needed.some(({ field, values }) => known.get(field)?.some((value) => values.includes(value)) === false))
    return false;
  if (rule.when === undefined || event === 'ObjectCreated' || fields.length === 0 || rule.once === 'every-time')
    return true;
  // A transition can set fields of its own.
  return event === 'ObjectTransitioned' || fields.some((field) => named.has(field));
}

/** Rule → the rules that it can fire. */
export function firingGraph(rules: ReadonlyMap<string, RuleDefinition>): Map<string, string[]> {
  const graph = new Map<string, string[]>();
  const reacting = [...rules].map(([code, rule]) => ({ code, reacting: reactingOf(rule) }));
  const moving = new Set([...rules.values()].filter((rule) => rule.do.some(hasTransition)).flatMap(occasionsOf));
  for (const [code, rule] of rules) {
    // Another rule on the same event may have moved the record before this one acts.
    const known = knownAfter(rule, !occasionsOf(rule).some((occasion) => moving.has(occasion)));
    const events = rule.do.flatMap((action) => emitted(action, rule.types, known));
    const fired = reacting.filter((other) => events.some((one) => canFire(one, other.reacting)));
    graph.set(
      code,
      fired.map((other) => other.code),
    );
  }
  return graph;
}

/**
 * The shortest chain of rules from the rule back to itself; undefined if there is none. A rule that only fires itself on the
 * same record is no loop, because each rule fires at most once for a record in one change.
 *
 * @param graph of the rules, for callers that ask about several
 */
export function loopThrough(
  code: string,
  rules: ReadonlyMap<string, RuleDefinition>,
  graph: ReadonlyMap<string, readonly string[]> = firingGraph(rules),
): string[] | undefined {
  const { do: actions = [], types = [] } = rules.get(code) ?? {};
  const creates = actions.some(({ create }) => create !== undefined && types.includes(create.type));
  const from = new Map<string, string>();
  const queue = [code];
  for (const rule of queue) {
    for (const next of graph.get(rule) ?? []) {
      if (next === code) {
        if (rule === code && !creates) continue;
        const chain = [code];
        for (let at: string | undefined = rule; at !== undefined && at !== code; at = from.get(at)) chain.unshift(at);
        return [code, ...chain];
      }
      if (!from.has(next)) {
        from.set(next, rule);
        queue.push(next);
      }
    }
  }
  return undefined;
}

/** The parts of a role that decide what its holders may read, without row conditions. */
export interface ReadingRole {
  code: string;
  records: readonly {
    type: string;
    actions: readonly RecordAction[];
    fields: { read: readonly string[] | '*' };
  }[];
}

/** A field that fills a text, and a role whose holders may read that text but not the field. */
export interface Widened {
  field: string;
  role: string;
}

/** A text that an action fills. `right` and `field` are what readers of the text need besides reading the record. */
interface FilledText {
  names: readonly string[];
  type: string;
  right: RecordAction | null;
  field: string | null;
}

function filledTexts({ comment, reason, create }: ActionDefinition, type: string): FilledText[] {
  const texts: FilledText[] = [];
  const namesIn = (text: LocalizedText): string[] =>
    (typeof text === 'string' ? [text] : Object.values(text)).flatMap(placeholders);
  if (comment !== undefined) {
    const { visibility, body } = comment;
    texts.push({ names: namesIn(body), type, right: rightForVisibility(visibility), field: null });
  }
  // The reason of a transition stands in the history.
  if (reason !== undefined) texts.push({ names: namesIn(reason), type, right: 'history', field: null });
  for (const [field, value] of Object.entries(create?.values ?? {})) {
    if (create === undefined || typeof value !== 'string') continue;
    texts.push({ names: placeholders(value), type: create.type, right: null, field });
  }
  return texts;
}

/**
 * Fields that a rule copies to where more people may read them. Row conditions of roles are not considered.
 *
 * @param fieldOf the field of the type that the placeholder names; undefined if it names none
 */
export function widenedFields(
  rule: RuleDefinition,
  roles: Iterable<ReadingRole>,
  fieldOf: (type: string, name: string) => string | undefined,
): Widened[] {
  const found = new Map<string, Widened>();
  const texts = rule.types.flatMap((source) =>
    rule.do.flatMap((action) => filledTexts(action, source)).map((text) => ({ ...text, source })),
  );
  for (const role of roles) {
    const grants = (type: string) => role.records.filter((grant) => grant.type === type || grant.type === '*');
    const can = (type: string, action: RecordAction) => grants(type).some(({ actions }) => actions.includes(action));
    const canRead = (type: string, field: string) =>
      grants(type).some(({ fields: { read } }) => read === '*' || read.includes(field));
    for (const { names, source, type, right, field } of texts) {
      const isShown = can(type, 'read') && (right === null || can(type, right));
      if (!isShown || (field !== null && !canRead(type, field))) continue;
      const named = names.flatMap((name) => fieldOf(source, name) ?? []);
      for (const hidden of named.filter((one) => !canRead(source, one))) {
        found.set(`${role.code} ${hidden}`, { field: hidden, role: role.code });
      }
    }
  }
  return [...found.values()];
}

/** All texts of a JSON value with their paths in it. */
export function textsIn(value: unknown, path: ItemPath = []): { path: ItemPath; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((one, index) => textsIn(one, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => textsIn(one, [...path, key]));
}

/** The fields whose values the rule sends to other systems, which have no rights of Docket. */
export function sentFields({ do: actions }: RuleDefinition): { webhook: string; fields: string }[] {
  return actions.flatMap(({ post }) => {
    if (post === undefined) return [];
    const names = new Set(textsIn(post.body).flatMap(({ text }) => placeholders(text)));
    return names.size === 0 ? [] : [{ webhook: post.connection, fields: [...names].join(', ') }];
  });
}

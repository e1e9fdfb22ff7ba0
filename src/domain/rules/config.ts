/** The bundle's section `rules` (docs/spec/rules.md). */
import { RULE_EVENTS } from '../../contract/events.ts';
import Type, { type Static } from 'typebox';
import { checkUnique } from '../../configuration/checks.ts';
import { connectionRights } from '../../configuration/connections.ts';
import { defineSection } from '../../configuration/define.ts';
import { compileTypedCondition } from '../../configuration/record-types.ts';
import { CodeOf, ConditionSchema, enabled, FieldOf } from '../../configuration/schemas.ts';
import type { CompileView, ConfigView, ItemPath, Report } from '../../configuration/section.ts';
import { withChangedElements, withEventFields } from '../../contract/rule-fields.ts';
import { closed, Code, described, type Localized, Login, Name, oneOf, optional } from '../../contract/schemas.ts';
import { storedForm } from '../../lib/data-types/index.ts';
import type { Condition } from '../../lib/filter.ts';
import { planNote, problem } from '../../lib/problem.ts';
import type { TypeDefinition } from '../metadata/index.ts';
import {
  firingGraph,
  loopThrough,
  type ReadingRole,
  sentFields,
  unmeetableField,
  type Widened,
  widenedFields,
} from './checker.ts';
import { orderAround, runOrder, type RunOrder } from './order.ts';
import { ActionSchema, type Checked, compileAction } from './config-actions.ts';
import { durationMs, isOpenTime } from '../sla/index.ts';
import {
  type ActionDefinition,
  type AfterDefinition,
  type CompiledRule,
  type RuleDefinition,
  SINCE_STATE,
} from './registry.ts';

const MAX_ACTIONS = 20;
const MAX_ORDER = 1_000_000;

const After = closed({
  duration: described(
    'How long after `since` the rule fires, an ISO 8601 duration in hours, minutes and seconds, such as PT4H.',
    Type.String({ minLength: 1, maxLength: 100 }),
  ),
  calendar: optional('Code of the calendar whose opening hours count. Absent: all time counts.', CodeOf('calendars')),
  since: described(
    'Where the time begins: workflowState is the last transition, or the code of a datetime field. A change begins it again.',
    Type.Union([Type.Literal(SINCE_STATE), FieldOf]),
  ),
  while: optional(
    'The record must meet this condition at the moment when the rule would fire. It is not judged before.',
    ConditionSchema,
  ),
});

const RuleItem = closed(
  {
    code: Code,
    name: Type.Optional(Name),
    enabled: enabled(true),
    order: optional(
      'Place among the rules that one event fires: the lowest first, 0 if absent. Rules with the same order run in the order of their codes.',
      Type.Integer({ minimum: -MAX_ORDER, maximum: MAX_ORDER }),
    ),
    on: optional(
      'Kinds of events that the rule reacts to. A rule has either on or after.',
      Type.Array(oneOf(RULE_EVENTS), { minItems: 1, maxItems: RULE_EVENTS.length, uniqueItems: true }),
    ),
    after: optional('The rule fires after a time instead of an event, once for each value of `since`.', After),
    types: described(
      'Codes of the record types for whose records the rule works.',
      Type.Array(CodeOf('types'), { minItems: 1, maxItems: 100, uniqueItems: true }),
    ),
    runAs: described(
      'Login of the user with whose rights the rule reads and acts. Changing a rule of another user needs role.assign.',
      Login,
    ),
    when: optional(
      'The record, as the event left it, must meet this condition. Also event.type, changed and the like. Absent: always.',
      ConditionSchema,
    ),
    once: optional(
      'becomes-true: the condition must hold after the event and not before; every-time: after it is enough. Default: becomes-true.',
      oneOf(['becomes-true', 'every-time']),
    ),
    do: described(
      'What the rule does, in this order: all of it or nothing. Each entry has exactly one action.',
      Type.Array(ActionSchema, { minItems: 1, maxItems: MAX_ACTIONS }),
    ),
    onError: optional(
      'If an action fails: note logs it and keeps the change, refuse refuses the change that fired the rule. Default: note.',
      oneOf(['note', 'refuse']),
    ),
  },
  { typesAt: 'types' },
);

type Item = Static<typeof RuleItem>;

function normaliseAfter({ duration, calendar, since, while: held }: NonNullable<Item['after']>): AfterDefinition {
  return {
    duration: String(storedForm('duration', duration) ?? duration),
    ...(calendar === undefined ? {} : { calendar }),
    since,
    ...(held === undefined ? {} : { while: held as Condition }),
  };
}

function normalise(item: Item): RuleDefinition {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    enabled: item.enabled ?? true,
    ...(item.order === undefined || item.order === 0 ? {} : { order: item.order }),
    on: item.on ?? [],
    ...(item.after === undefined ? {} : { after: normaliseAfter(item.after) }),
    types: item.types,
    runAs: item.runAs,
    ...(item.when === undefined ? {} : { when: item.when as Condition }),
    once: item.once ?? 'becomes-true',
    do: item.do as ActionDefinition[],
    onError: item.onError ?? 'note',
  };
}

/** @param onTime whether there is no event that the condition could name */
function compileWhen(
  when: Condition | undefined,
  path: ItemPath,
  { types, view, report }: Checked,
  onTime: boolean,
): Condition | undefined {
  if (when === undefined) return undefined;
  if (onTime) return compileTypedCondition(when, path, types, { view, report });
  const extend: Parameters<typeof compileTypedCondition>[4] = {
    extend: (resolve, { fields }) =>
      withEventFields(
        resolve,
        fields.map(({ code }) => code),
      ),
  };
  return compileTypedCondition(withChangedElements(when), path, types, { view, report }, extend);
}

/** What must hold when the rule fires. */
function compileConditions({ when, after }: RuleDefinition, checked: Checked): Condition | null {
  const onTime = after !== undefined;
  const found = [
    compileWhen(when, ['when'], checked, onTime),
    compileWhen(after?.while, ['after', 'while'], checked, onTime),
  ].filter((condition) => condition !== undefined);
  const [first, ...others] = found;
  return others.length === 0 ? (first ?? null) : ({ logic: 'AND', conditions: found } as Condition);
}

function compileAfter(
  { duration, calendar, since }: AfterDefinition,
  { types, view, report }: Checked,
): CompiledRule['after'] {
  if (!isOpenTime(duration)) report(['after', 'duration'], problem('NOT_OPEN_TIME', { example: 'PT4H' }));
  for (const type of since === SINCE_STATE ? [] : types) {
    const field = type.fields.find(({ code }) => code === since);
    const at = ['after', 'since'];
    if (field === undefined) report(at, problem('TYPE_HAS_NO_FIELD', { type: type.code, field: since }));
    else if (field.dataType !== 'datetime' || field.multiple) report(at, problem('RULE_SINCE', { field: since }));
  }
  const calendarId =
    calendar === undefined ? null : view.has('calendars', calendar) ? view.id('calendars', calendar) : null;
  return { ms: isOpenTime(duration) ? durationMs(duration) : 0, calendarId, since };
}

function compile(rule: RuleDefinition, view: CompileView, report: Report): unknown {
  checkUnique(rule.types, (code) => code, ['types'], '', report);
  const types = rule.types.flatMap((code) => view.get<TypeDefinition>('types', code) ?? []);
  // References are checked elsewhere, which reports unknown types.
  const checked = { runAs: rule.runAs, types, view, report };
  const { types: codes, runAs, when: _when, after, do: actions, ...rest } = rule;
  if ((after === undefined) === (rule.on.length === 0)) report([], problem('RULE_ON_OR_AFTER'));
  return {
    ...rest,
    typeIds: codes.flatMap((code) => (view.has('types', code) ? [view.id('types', code)] : [])),
    runAsId: view.has('users', runAs) ? view.id('users', runAs) : null,
    when: compileConditions(rule, checked),
    ...(after === undefined ? {} : { after: compileAfter(after, checked) }),
    do: actions.flatMap((action, index) => compileAction(action, ['do', index], checked) ?? []),
  };
}

/** The enabled rules, which can fire which, and the order in which they run. */
interface FiringRules {
  rules: ReadonlyMap<string, RuleDefinition>;
  graph: ReadonlyMap<string, readonly string[]>;
  order: RunOrder;
}

/** Computed once a view: a plan asks for each changed rule. */
const firingRules = new WeakMap<ConfigView, FiringRules>();

function firingRulesOf(view: ConfigView): FiringRules {
  let found = firingRules.get(view);
  if (found === undefined) {
    const rules = new Map([...view.active<RuleDefinition>('rules')].filter(([, { enabled }]) => enabled));
    found = { rules, graph: firingGraph(rules), order: runOrder(rules.values()) };
    firingRules.set(view, found);
  }
  return found;
}

/** The fields that the rule copies to where more people may read them. */
function widened(rule: RuleDefinition, view: ConfigView): Widened[] {
  const types = view.active<TypeDefinition>('types');
  return widenedFields(rule, view.active<ReadingRole>('roles').values(), (type, name) => {
    const { title, fields = [] } = types.get(type) ?? {};
    return name === 'title' ? title : fields.find(({ code }) => code === name)?.code;
  });
}

export const rulesSection = defineSection<Item, RuleDefinition>({
  key: 'rules',
  summary: 'Rules: what happens by itself when records change.',
  schema: RuleItem,
  rights: (change, view, actorId) => {
    const posts = (change.definition as RuleDefinition).do.some(({ post }) => post !== undefined);
    const own = connectionRights(change, view, actorId, 'runAs');
    // Its messages are signed like the deliveries of the webhook, which they could imitate.
    return posts && change.action !== 'archive' ? [...own, 'webhook.manage'] : own;
  },
  normalise,
  compile,
  notes: ({ action, code, definition }, view) => {
    const rule = definition as RuleDefinition;
    if (action === 'archive' || !rule.enabled) return [];
    const field = unmeetableField(rule);
    const { rules, graph, order } = firingRulesOf(view);
    const loop = loopThrough(code, rules, graph);
    const around = orderAround(rule, order);
    return [
      ...(field === undefined ? [] : [planNote('RULE_NEVER_FIRES', { field })]),
      ...(loop === undefined ? [] : [planNote('RULES_CAN_LOOP', { chain: loop.join(' → ') })]),
      ...(around === undefined ? [] : [planNote('RULE_ORDER', { rules: around })]),
      ...widened(rule, view).map((one) => planNote('RULE_SHOWS_FIELD', { ...one })),
      ...sentFields(rule).map((one) => planNote('RULE_SENDS_FIELDS', one)),
    ];
  },
});

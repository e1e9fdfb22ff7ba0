/** The bundle's section `rules` (docs/spec/rules.md). */
import Type, { type Static } from 'typebox';
import { checkUnique } from '../../configuration/checks.ts';
import { connectionRights } from '../../configuration/connections.ts';
import { defineSection } from '../../configuration/define.ts';
import { compileTypedCondition } from '../../configuration/record-types.ts';
import {
  Code,
  CodeOf,
  ConditionSchema,
  FieldOf,
  FilledSetSchema,
  type Localized,
  localized,
  Login,
  Name,
  oneOf,
  SetSchema,
  TransitionCode,
} from '../../configuration/schemas.ts';
import type { CompileView, ConfigView, ItemPath, Reference, Report } from '../../configuration/section.ts';
import { checkTemplate } from '../../configuration/templates.ts';
import { compileSet } from '../../configuration/values.ts';
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import { RULE_EVENTS, withChangedElements, withEventFields } from '../../contract/rule-fields.ts';
import { closed } from '../../contract/schemas.ts';
import { storedForm } from '../../lib/data-types/index.ts';
import type { Condition } from '../../lib/filter.ts';
import { planNote, problem } from '../../lib/problem.ts';
import { placeholders } from '../../lib/template.ts';
import { checkValue, type FieldDefinition, type TypeDefinition, type WorkflowDefinition } from '../metadata/index.ts';
import { firingGraph, loopThrough, type ReadingRole, unmeetableField, type Widened, widenedFields } from './checker.ts';
import { durationMs, isOpenTime } from '../sla/index.ts';
import {
  ACTION_KINDS,
  type ActionDefinition,
  type AfterDefinition,
  type CompiledAction,
  type CompiledRule,
  type RuleDefinition,
  SINCE_STATE,
} from './registry.ts';

/** Maximum length of a comment's text in characters. */
const LONGEST_BODY = 10_000;
const MOST_ACTIONS = 20;

const Action = closed({
  set: Type.Optional(SetSchema),
  comment: Type.Optional(
    closed({
      visibility: oneOf(COMMENT_VISIBILITIES),
      body: { ...localized(LONGEST_BODY), names: { kind: 'template' } },
    }),
  ),
  transition: Type.Optional(TransitionCode),
  reason: Type.Optional({ ...localized(LONGEST_BODY), names: { kind: 'template' } }),
  create: Type.Optional(
    closed(
      {
        type: CodeOf('types'),
        relation: Type.Optional(CodeOf('relationDefinitions')),
        values: Type.Optional(FilledSetSchema),
      },
      { typesAt: 'type' },
    ),
  ),
  post: Type.Optional(
    closed({
      connection: CodeOf('webhooks'),
      body: Type.Record(Type.String(), Type.Unknown(), { names: { kind: 'template' } }),
    }),
  ),
  notify: Type.Optional(closed({ to: Type.Array(FieldOf, { minItems: 1, maxItems: 20, uniqueItems: true }) })),
});

const After = closed({
  duration: Type.String({ minLength: 1, maxLength: 100 }),
  calendar: Type.Optional(CodeOf('calendars')),
  since: Type.Union([Type.Literal(SINCE_STATE), FieldOf]),
  while: Type.Optional(ConditionSchema),
});

const RuleItem = closed(
  {
    code: Code,
    name: Type.Optional(Name),
    enabled: Type.Optional(Type.Boolean()),
    on: Type.Optional(Type.Array(oneOf(RULE_EVENTS), { minItems: 1, maxItems: RULE_EVENTS.length, uniqueItems: true })),
    after: Type.Optional(After),
    types: Type.Array(CodeOf('types'), { minItems: 1, maxItems: 100, uniqueItems: true }),
    runAs: Login,
    when: Type.Optional(ConditionSchema),
    once: Type.Optional(oneOf(['becomes-true', 'every-time'])),
    do: Type.Array(Action, { minItems: 1, maxItems: MOST_ACTIONS }),
    onError: Type.Optional(oneOf(['note', 'refuse'])),
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

function references({ types, runAs, after, do: actions }: RuleDefinition): Reference[] {
  const calendar = after?.calendar;
  return [
    { section: 'users', code: runAs, path: ['runAs'] },
    ...(calendar === undefined ? [] : [{ section: 'calendars', code: calendar, path: ['after', 'calendar'] }]),
    ...types.map((code, index) => ({ section: 'types', code, path: ['types', index] })),
    ...actions.flatMap(({ post }, index): Reference[] =>
      post === undefined
        ? []
        : [{ section: 'webhooks', code: post.connection, path: ['do', index, 'post', 'connection'] }],
    ),
    ...actions.flatMap(({ create }, index): Reference[] => {
      if (create === undefined) return [];
      const path = ['do', index, 'create'];
      const type = { section: 'types', code: create.type, path: [...path, 'type'] };
      if (create.relation === undefined) return [type];
      return [type, { section: 'relationDefinitions', code: create.relation, path: [...path, 'relation'] }];
    }),
  ];
}

/** A rule that is checked: its types, and where problems go. */
interface Checked {
  runAs: string;
  types: readonly TypeDefinition[];
  view: CompileView;
  report: Report;
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

const checkField = (field: FieldDefinition, value: unknown) => checkValue(field, value, '');

type Fields = ReadonlyMap<string, FieldDefinition>;

function fieldsOf(types: readonly TypeDefinition[]): ReadonlyMap<string, Fields> {
  return new Map(types.map((type) => [type.code, new Map(type.fields.map((field) => [field.code, field]))]));
}

/** Checks that each type has the transition, and that its form needs nothing that a rule cannot give. */
function checkTransition(
  { transition: code = '', reason }: ActionDefinition,
  path: ItemPath,
  { types, view, report }: Checked,
): void {
  for (const type of types) {
    const workflow = type.workflow === undefined ? undefined : view.get<WorkflowDefinition>('workflows', type.workflow);
    const transition = workflow?.transitions.find((one) => one.code === code);
    if (transition === undefined) return report(path, problem('ROLE_TRANSITION_MISSING', { code }));
    const remark = transition.fields.find(
      ({ code: field, required }) => required && field.startsWith('$') && (field !== '$reason' || reason === undefined),
    );
    if (remark !== undefined) return report(path, problem('RULE_CANNOT_REMARK', { code, field: remark.code }));
  }
}

const FILLED_TYPES: ReadonlySet<string> = new Set(['string', 'text']);

function compileCreate(
  { type, relation, values = {} }: NonNullable<ActionDefinition['create']>,
  path: ItemPath,
  checked: Checked,
): CompiledAction {
  const { types, view, report } = checked;
  const target = view.get<TypeDefinition>('types', type);
  const fields = fieldsOf(target === undefined ? [] : [target]);
  const filled = Object.entries(values).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && placeholders(entry[1]).length > 0,
  );
  for (const [code, text] of filled) {
    const field = fields.get(type)?.get(code);
    const at = [...path, 'values', code];
    if (target !== undefined && field === undefined) report(at, problem('TYPE_HAS_NO_FIELD', { type, field: code }));
    else if (field !== undefined && !FILLED_TYPES.has(field.dataType)) {
      report(at, problem('RULE_CANNOT_FILL', { field: code }));
    } else checkTemplate(text, at, types, report);
  }
  const plain = Object.fromEntries(Object.entries(values).filter(([code]) => !filled.some(([one]) => one === code)));
  const set = compileSet(plain, [...path, 'values'], fields, checkField, { view, report });
  checkRelation(relation, type, path, checked);
  return { kind: 'create', type, relation: relation ?? null, set, filled: Object.fromEntries(filled) };
}

/** Checks that the relation can lead from a record of each type to the created one. */
function checkRelation(
  code: string | undefined,
  target: string,
  path: ItemPath,
  { types, view, report }: Checked,
): void {
  if (code === undefined) return;
  const ends = view.get<{ sourceTypes: string[]; targetTypes: string[] }>('relationDefinitions', code);
  if (ends === undefined) return;
  const source = types.find((type) => !ends.sourceTypes.includes(type.code))?.code;
  const at = [...path, 'relation'];
  if (source !== undefined) report(at, problem('RULE_RELATION_SOURCE', { relation: code, type: source }));
  else if (!ends.targetTypes.includes(target))
    report(at, problem('RULE_RELATION_TARGET', { relation: code, type: target }));
}

/** Characters of the JSON of a message before its placeholders are filled. */
const LONGEST_MESSAGE = 10_000;

/** A message must not tell the managers of the webhook what its user may not read. */
function checkWebhook(code: string, path: ItemPath, { runAs, view, report }: Checked): void {
  const user = view.get<{ executionPrincipal: string }>('webhooks', code)?.executionPrincipal;
  const idOf = (login: string): string | undefined => (view.has('users', login) ? view.id('users', login) : undefined);
  if (user !== undefined && idOf(user) !== idOf(runAs))
    report(path, problem('RULE_WEBHOOK_USER', { webhook: code, user }));
}

function checkMessage(body: unknown, path: ItemPath, { types, report }: Checked): void {
  if (JSON.stringify(body).length > LONGEST_MESSAGE) {
    report(path, problem('TEXT_TOO_LONG', { max: LONGEST_MESSAGE }));
  }
  const check = (value: unknown, at: ItemPath): void => {
    if (typeof value === 'string') checkTemplate(value, at, types, report);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, one] of Object.entries(value)) check(one, [...at, Array.isArray(value) ? Number(key) : key]);
    }
  };
  check(body, path);
}

/** Checks that each type has the fields, and that they hold users or groups. */
function checkRecipients(codes: readonly string[], path: ItemPath, { types, report }: Checked): void {
  for (const [index, code] of codes.entries()) {
    for (const type of types) {
      const field = type.fields.find((one) => one.code === code);
      const at = [...path, index];
      if (field === undefined) report(at, problem('TYPE_HAS_NO_FIELD', { type: type.code, field: code }));
      else if (field.dataType !== 'user' && field.dataType !== 'group') {
        report(at, problem('RULE_CANNOT_NOTIFY', { field: code }));
      }
    }
  }
}

function compileAction(action: ActionDefinition, path: ItemPath, checked: Checked): CompiledAction | undefined {
  const { types, view, report } = checked;
  const named = ACTION_KINDS.filter((kind) => action[kind] !== undefined);
  if (named.length !== 1) {
    report(path, problem('RULE_ACTION_KINDS', { known: [...ACTION_KINDS] }));
    return undefined;
  }
  const { set, comment, transition, reason, create, notify, post } = action;
  if (reason !== undefined && transition === undefined) report([...path, 'reason'], problem('RULE_REASON'));
  if (set !== undefined) {
    if (Object.keys(set).length === 0) report([...path, 'set'], problem('EMPTY_MAPPING'));
    return { kind: 'set', set: compileSet(set, [...path, 'set'], fieldsOf(types), checkField, { view, report }) };
  }
  if (comment !== undefined) {
    checkTemplate(comment.body, [...path, 'comment', 'body'], types, report);
    return { kind: 'comment', ...comment };
  }
  if (transition !== undefined) {
    checkTransition(action, [...path, 'transition'], checked);
    if (reason !== undefined) checkTemplate(reason, [...path, 'reason'], types, report);
    return { kind: 'transition', transition, reason: reason ?? null };
  }
  if (notify !== undefined) {
    checkRecipients(notify.to, [...path, 'notify', 'to'], checked);
    return { kind: 'notify', to: notify.to };
  }
  if (post !== undefined) {
    checkMessage(post.body, [...path, 'post', 'body'], checked);
    const { connection: code, body } = post;
    checkWebhook(code, [...path, 'post', 'connection'], checked);
    return { kind: 'post', connectionId: view.has('webhooks', code) ? view.id('webhooks', code) : null, body };
  }
  return create === undefined ? undefined : compileCreate(create, [...path, 'create'], checked);
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

type FiringRules = [rules: ReadonlyMap<string, RuleDefinition>, graph: ReadonlyMap<string, readonly string[]>];

/** View → its enabled rules, and which can fire which: a plan asks for each changed rule. */
const firingRules = new WeakMap<ConfigView, FiringRules>();

function firingRulesOf(view: ConfigView): FiringRules {
  let found = firingRules.get(view);
  if (found === undefined) {
    const rules = new Map([...view.active<RuleDefinition>('rules')].filter(([, { enabled }]) => enabled));
    found = [rules, firingGraph(rules)];
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
  rights: (change, view, actorId) => connectionRights(change, view, actorId, 'runAs'),
  normalise,
  references,
  compile,
  notes: ({ action, code, definition }, view) => {
    const rule = definition as RuleDefinition;
    if (action === 'archive' || !rule.enabled) return [];
    const field = unmeetableField(rule);
    const loop = loopThrough(code, ...firingRulesOf(view));
    return [
      ...(field === undefined ? [] : [planNote('RULE_NEVER_FIRES', { field })]),
      ...(loop === undefined ? [] : [planNote('RULES_CAN_LOOP', { chain: loop.join(' → ') })]),
      ...widened(rule, view).map((one) => planNote('RULE_SHOWS_FIELD', { ...one })),
    ];
  },
});

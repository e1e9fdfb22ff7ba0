/** The actions of rules in a bundle: their schema, what they refer to, and what they need (docs/spec/rules.md#actions). */
import Type from 'typebox';
import { CodeOf, FieldOf, FilledSetSchema, SetSchema, TransitionCode } from '../../configuration/schemas.ts';
import type { CompileView, ItemPath, Report } from '../../configuration/section.ts';
import { checkTemplate } from '../../configuration/templates.ts';
import { compileSet } from '../../configuration/values.ts';
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import { closed, described, localized, oneOf, optional } from '../../contract/schemas.ts';
import { problem } from '../../lib/problem.ts';
import { placeholders } from '../../lib/template.ts';
import { checkValue, type FieldDefinition, type TypeDefinition, type WorkflowDefinition } from '../metadata/index.ts';
import { textsIn } from './checker.ts';
import { ACTION_KINDS, type ActionDefinition, type CompiledAction } from './registry.ts';

/** Maximum length of a comment's text in characters. */
const LONGEST_BODY = 10_000;

const filled = (description: string) => ({
  ...described(description, localized(LONGEST_BODY)),
  names: { kind: 'template' },
});

/** Exactly one action; `reason` belongs to `transition`. */
export const ActionSchema = closed({
  set: optional(
    'Writes fields: field code to value, as in transitions; $me and $now are those of the rule, null clears a field.',
    SetSchema,
  ),
  comment: optional(
    'Adds a comment by the user of the rule.',
    closed({
      visibility: described(
        'Readers of the comment: public is for the requester too, internal only for those who may see internal comments.',
        oneOf(COMMENT_VISIBILITIES),
      ),
      body: filled('Text in Markdown, or one text for each locale. {{ CODE }} is replaced by the value of a field.'),
    }),
  ),
  transition: optional(
    'Code of a transition that the rule makes. Its form must require only a reason.',
    TransitionCode,
  ),
  reason: Type.Optional(filled('The reason that the form of the transition asks for. May have {{ CODE }}.')),
  create: optional(
    'Creates a record, with the rights of the user of the rule.',
    closed(
      {
        type: described('Code of the record type of the new record.', CodeOf('types')),
        relation: optional(
          'Code of a relation definition: it leads from the record of the rule to the new one. Absent: no relation.',
          CodeOf('relationDefinitions'),
        ),
        values: optional(
          'Field code to value of the new record. Texts may have {{ CODE }} for fields of the record of the rule.',
          FilledSetSchema,
        ),
      },
      { typesAt: 'type' },
    ),
  ),
  post: optional(
    'Sends a message to another system after the change is stored.',
    closed({
      connection: described(
        'Code of the webhook whose endpoint and secret are used. It must run as the same user as the rule.',
        CodeOf('webhooks'),
      ),
      body: Type.Record(
        Type.String(),
        Type.Unknown({ description: 'A value of the message. Texts may have {{ CODE }}.' }),
        {
          description:
            'The JSON object that is sent. {{ CODE }} in its texts is replaced by values that the user of the rule may read.',
          names: { kind: 'template' },
        },
      ),
    }),
  ),
  notify: optional(
    'Notifies users, each in the way that they chose.',
    closed({
      to: described(
        'Codes of user and group fields of the record: these users and the members of these groups are notified.',
        Type.Array(FieldOf, { minItems: 1, maxItems: 20, uniqueItems: true }),
      ),
      template: optional(
        'Code of the template for the mail. Absent: the template rule, or else the built-in text.',
        CodeOf('templates'),
      ),
    }),
  ),
});

/** A rule that is checked: its types, and where problems go. */
export interface Checked {
  runAs: string;
  types: readonly TypeDefinition[];
  view: CompileView;
  report: Report;
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
  if (user !== undefined && idOf(user) !== idOf(runAs)) report(path, problem('RULE_WEBHOOK_USER', { webhook: code }));
}

function checkMessage(body: unknown, path: ItemPath, { types, report }: Checked): void {
  if (JSON.stringify(body).length > LONGEST_MESSAGE) {
    report(path, problem('TEXT_TOO_LONG', { max: LONGEST_MESSAGE }));
  }
  for (const { path: at, text } of textsIn(body, path)) checkTemplate(text, at, types, report);
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

export function compileAction(action: ActionDefinition, path: ItemPath, checked: Checked): CompiledAction | undefined {
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
    const { to, template } = notify;
    // Unknown templates are reported as references.
    const isKnown = template !== undefined && view.has('templates', template);
    return { kind: 'notify', to, ...(isKnown ? { templateId: view.id('templates', template) } : {}) };
  }
  if (post !== undefined) {
    checkMessage(post.body, [...path, 'post', 'body'], checked);
    const { connection: code, body } = post;
    checkWebhook(code, [...path, 'post', 'connection'], checked);
    return { kind: 'post', connectionId: view.has('webhooks', code) ? view.id('webhooks', code) : null, body };
  }
  return create === undefined ? undefined : compileCreate(create, [...path, 'create'], checked);
}

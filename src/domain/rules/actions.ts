/** The actions of a rule, through the ordinary commands and with the rights of the user of the rule. */
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import { asMarkdown, fillTemplate, placeholders } from '../../lib/template.ts';
import type { Yielder } from '../../lib/yielding.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { addComment } from '../comments/index.ts';
import { templateValues } from '../desk/index.ts';
import { findType, localized, registry, setValue } from '../metadata/index.ts';
import { createObject, readableValues, requireVisible, updateObject, type VisibleObject } from '../objects/index.ts';
import { addRelation, definitions } from '../relations/index.ts';
import { findTransition, transitionObject } from '../workflow/index.ts';
import type { CompiledAction, Rule } from './registry.ts';

/** Characters of a filled message as JSON. */
const LONGEST_SENT = 100_000;

/** What an action did: the id of what it created, otherwise that of the record. */
export interface Effect {
  kind: CompiledAction['kind'];
  id: string;
}

/**
 * Runs the actions in their order; each sees the record as the ones before it left it.
 *
 * @param ctx has the rights of the user of the rule
 * @throws Fault those of the commands
 */
export async function runActions(
  ctx: WriteContext,
  rule: Rule,
  { objectId, yielder }: { objectId: string; yielder: Yielder },
): Promise<Effect[]> {
  const effects: Effect[] = [];
  for (const action of rule.do) {
    await yielder.next();
    const object = await requireVisible(ctx, objectId);
    effects.push({ kind: action.kind, id: await run(ctx, action, object, rule.code) });
  }
  return effects;
}

async function run(ctx: WriteContext, action: CompiledAction, object: VisibleObject, rule: string): Promise<string> {
  const objectId = object.row.id;
  switch (action.kind) {
    case 'set':
      await updateObject(ctx, {
        objectId,
        expectedRevision: object.row.revision,
        changes: changesOf(ctx, action.set, object),
      });
      return objectId;
    case 'comment': {
      const { defaultLocale } = registry(ctx).settings;
      const body = await filled(ctx, object, localized(action.body, defaultLocale, defaultLocale), true);
      return (await addComment(ctx, { objectId, visibility: action.visibility, body })).id;
    }
    case 'transition':
      await makeTransition(ctx, action, object);
      return objectId;
    case 'create':
      return await createRelated(ctx, action, object);
    case 'post':
      await postMessage(ctx, action, object, rule);
      return objectId;
    case 'notify':
      notifyPeople(ctx, action, object, rule);
      return objectId;
  }
}

/** The message is sent after commit, by the delivery of the webhook. Its texts are filled now, with the rights of the rule. */
async function postMessage(
  ctx: WriteContext,
  { connectionId: connection, body }: Extract<CompiledAction, { kind: 'post' }>,
  object: VisibleObject,
  rule: string,
): Promise<void> {
  requireOwnWebhook(ctx, connection, ctx.actor.userId);
  const valueOf = await templateValues(ctx, object, new Set(textsIn(body).flatMap(placeholders)));
  const text = messageText(body, valueOf);
  ctx.emit({ type: 'RulePosted', objectId: object.row.id, data: { rule }, stored: { connection, body: text } });
}

/**
 * A message with its placeholders filled, as JSON.
 *
 * @throws Fault INVALID_REQUEST if it is too long
 */
export function messageText(body: Readonly<Record<string, unknown>>, valueOf: (name: string) => string): string {
  const text = JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'string' ? fillTemplate(value, valueOf) : value,
  );
  if (text.length > LONGEST_SENT) throw new Fault('INVALID_REQUEST', problem('TEXT_TOO_LONG', { max: LONGEST_SENT }));
  return text;
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/**
 * Changing the endpoint of a webhook needs the rights to act as its user. That the rule has the same user protects what it
 * fills in from everybody else who manages webhooks.
 *
 * @param runAsId of the rule
 * @throws Fault RIGHT_MISSING
 */
export function requireOwnWebhook(ctx: ReadContext, connection: string | null, runAsId: string | null): void {
  const webhook = ctx.config.items('webhooks').find(({ id }) => id === connection);
  const { executionPrincipalId } = (webhook?.compiled ?? {}) as { executionPrincipalId?: string | null };
  if (executionPrincipalId !== runAsId) {
    throw new Fault('RIGHT_MISSING', problem('WEBHOOK_OF_OTHER_USER'));
  }
}

/** Notifications are made of the event after commit; each recipient is judged with their own rights. */
function notifyPeople(
  ctx: WriteContext,
  { to: codes, templateId }: Extract<CompiledAction, { kind: 'notify' }>,
  object: VisibleObject,
  rule: string,
): void {
  const values = readableValues(object);
  const idsOf = (dataType: 'user' | 'group'): string[] =>
    codes.flatMap((code) => {
      const ids = object.version.fields.get(code)?.dataType === dataType ? [values[code] ?? []].flat() : [];
      return ids.filter((id) => typeof id === 'string');
    });
  const [users, groups] = [idsOf('user'), idsOf('group')];
  if (users.length + groups.length === 0) return;
  const template = templateId === undefined ? {} : { template: templateId };
  const stored = { users: users.join(), groups: groups.join(), ...template };
  ctx.emit({ type: 'RuleNotified', objectId: object.row.id, data: { rule }, stored });
}

/** A record of an older version of its type may lack some of the fields. */
function changesOf(
  ctx: ReadContext,
  set: Record<string, unknown>,
  { version }: VisibleObject,
): Record<string, unknown> {
  const entries = Object.entries(set).flatMap(([code, configured]): [string, unknown][] => {
    const field = version.fields.get(code);
    return field === undefined ? [] : [[code, setValue(ctx, field, configured)]];
  });
  return Object.fromEntries(entries);
}

async function filled(ctx: ReadContext, object: VisibleObject, text: string, isMarkdown = false): Promise<string> {
  const valueOf = await templateValues(ctx, object, new Set(placeholders(text)));
  return fillTemplate(text, isMarkdown ? (name) => asMarkdown(valueOf(name)) : valueOf);
}

async function makeTransition(
  ctx: WriteContext,
  { transition: code, reason }: Extract<CompiledAction, { kind: 'transition' }>,
  object: VisibleObject,
): Promise<void> {
  const { id: objectId, revision: expectedRevision, workflowStateId } = object.row;
  const transition = findTransition(ctx, object, code);
  if (transition === undefined || workflowStateId === null) {
    throw new Fault('TRANSITION_NOT_AVAILABLE', `The record has no transition ${code}.`);
  }
  const expectedStateId = workflowStateId;
  const { defaultLocale } = registry(ctx).settings;
  // A transition without a place for a reason takes none.
  const values =
    reason !== null && transition.fields.some((field) => field.code === '$reason')
      ? { $reason: await filled(ctx, object, localized(reason, defaultLocale, defaultLocale)) }
      : {};
  await transitionObject(ctx, { objectId, transitionId: transition.id, expectedRevision, expectedStateId, values });
}

async function createRelated(
  ctx: WriteContext,
  { type: code, relation, set, filled: texts }: Extract<CompiledAction, { kind: 'create' }>,
  object: VisibleObject,
): Promise<string> {
  const type = findType(registry(ctx), code);
  const values: Record<string, unknown> = {};
  for (const [field, configured] of Object.entries(set)) {
    const known = type?.newest.fields.get(field);
    if (known !== undefined) values[field] = setValue(ctx, known, configured);
  }
  for (const [field, text] of Object.entries(texts)) {
    values[field] = await filled(ctx, object, text, type?.newest.fields.get(field)?.dataType === 'rich-text');
  }
  const { id } = await createObject(ctx, { typeDefinitionId: code, values });
  if (relation === null) return id;
  const definition = [...definitions(ctx).values()].find((one) => one.code === relation && one.active);
  const definitionId = definition?.id ?? '';
  await addRelation(ctx, { objectId: object.row.id, definitionId, targetObjectId: id });
  return id;
}

/** The notifications that a dry run would have made, as far as the caller may see them. */
import { type Effects, MAX_EFFECTS } from '../../contract/effects.ts';
import type { Actor, ReadContext } from '../../platform/unit-of-work/context.ts';
import { contextOnBehalfOf } from '../../platform/unit-of-work/unit-context.ts';
import type { TriedEvent } from '../../platform/unit-of-work/work.ts';
import { canSeeComment } from '../comments/index.ts';
import { findVisible, type VisibleObject } from '../objects/index.ts';
import { type ActorsOf, assignmentCodes, Audience, type Concerned, hidesPeople } from './audience.ts';
import { NOTIFYING } from './rules.ts';
import type { AudienceEvent } from './store-make.ts';

interface EffectParts {
  /** The rights of the service itself. */
  system: Actor;
  actorsOf: ActorsOf;
  /** Whether mails are sent. */
  sendsMail: boolean;
}

/** @param assigning stored codes of the fields that assign a record */
function audienceEvent({ id, actor, event }: TriedEvent, assigning: readonly string[]): AudienceEvent | undefined {
  const { type, objectId } = event;
  if (objectId === undefined || !NOTIFYING.includes(type)) return undefined;
  const { commentId = null, changed = [] } = (event.data ?? {}) as { commentId?: string; changed?: string[] };
  const all = (event.storedChanges ?? event.changes ?? {}) as AudienceEvent['changes'];
  const changes = Object.fromEntries(Object.entries(all).filter(([code]) => assigning.includes(code)));
  const told = type === 'RuleNotified' ? (event.stored as AudienceEvent['told']) : {};
  return { id, type, actorId: actor.userId, objectId, commentId, told, changed, fields: Object.keys(all), changes };
}

/**
 * Notifications of records that the caller may read: to the caller, and with the right `user.administer` to others, unless these
 * would tell what the caller may not read.
 *
 * @returns at most one more than are shown
 */
export async function notificationEffects(
  ctx: ReadContext,
  tried: readonly TriedEvent[],
  { system, actorsOf, sendsMail }: EffectParts,
): Promise<Effects['notifications']> {
  const { actor } = ctx;
  const seesOthers = actor.has('user.administer');
  const events: AudienceEvent[] = [];
  const objects = new Map<string, VisibleObject>();
  const assigning = assignmentCodes(ctx);
  for (const event of tried.flatMap((one) => audienceEvent(one, assigning) ?? [])) {
    const object = await findVisible(ctx, event.objectId);
    if (object === undefined) continue;
    objects.set(event.objectId, object);
    events.push(event);
  }
  const audience = new Audience(contextOnBehalfOf(ctx, system), actorsOf);
  const effects: Effects['notifications'] = [];
  const templates = new Map(ctx.config.items('templates').map(({ id, code }) => [id, code]));
  for (const one of await audience.load(events, { most: MAX_EFFECTS + 1, also: actor.userId })) {
    const kinds = audience.kindsOf(one);
    const showsOthers = seesOthers && maySeeOthers(objects.get(one.event.objectId), one);
    const users = [...kinds.keys()].filter((id) => showsOthers || id === actor.userId).slice(0, MAX_EFFECTS + 1);
    await audience.loadUsers(users);
    for (const userId of users) {
      const recipient = audience.recipient(userId);
      const verdict = await audience.judge(one, userId, kinds.get(userId) ?? new Set());
      if (verdict.kind === null || recipient === undefined) continue;
      const { kind, choice } = verdict;
      if (choice.console) effects.push({ to: recipient.login, channel: 'console', template: kind });
      if (choice.mail === 'never' || !sendsMail || !recipient.hasMail) continue;
      const chosen =
        kind === 'rule' && choice.mail === 'now' ? templates.get(one.event.told.template ?? '') : undefined;
      const channel = choice.mail === 'now' ? 'mail' : 'digest';
      effects.push({ to: recipient.login, channel, template: chosen ?? kind });
    }
    if (effects.length > MAX_EFFECTS) break;
  }
  return effects.slice(0, MAX_EFFECTS + 1);
}

/** Whether the caller may read everything that decides who else is notified: the people of the record, and the comment. */
function maySeeOthers(object: VisibleObject | undefined, { event, visibility }: Concerned): boolean {
  if (object === undefined || hidesPeople(object, event.type)) return false;
  return visibility === null || canSeeComment(object, visibility);
}

/**
 * Explains which notifications of a record a user got, and why there are none of other events. Notifications are stored; the
 * reasons for missing ones are derived from the current rights and choices.
 */
import { Fault } from '../../lib/fault.ts';
import { isId } from '../../lib/ids.ts';
import { instant } from '../../platform/clock.ts';
import type { Actor, ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { contextOnBehalfOf } from '../../platform/unit-of-work/unit-context.ts';
import { idsByName } from '../identity/index.ts';
import { type EventFilter, recentEvents, requireVisible } from '../objects/index.ts';
import { type ActorsOf, assignmentCodes, Audience, hidesPeople, type Verdict } from './audience.ts';
import { requireUser } from './commands.ts';
import { timesOf } from './make.ts';
import { KEPT_MS, type Kind, NOTIFYING, type Reason } from './rules.ts';
import { isWatching } from './store.ts';
import * as store from './store-make.ts';
import type { Recipient } from './store-make.ts';

export interface ExplainParts {
  actorsOf: ActorsOf;
  systemActor(ctx: Pick<ReadContext, 'config'>): Actor;
  /** Selects the events that the history hides from a caller. */
  filters: readonly EventFilter[];
}

/** Newest events of the history that are explained. */
const MAX_EVENTS = 100;

interface ExplainedEvent {
  id: string;
  type: string;
  at: string;
  actor: { id: string | null; displayName: string };
  kind: Kind | null;
  reason: Reason | null;
  inConsole: boolean;
  readAt: string | null;
  mail: { isDigest: boolean; dueAt: string } | null;
}

interface NotificationsExplanation {
  user: { id: string; login: string; displayName: string };
  watching: boolean;
  hasMailAddress: boolean;
  timezone: string;
  quietHours: { from: string | null; to: string | null };
  events: ExplainedEvent[];
}

/** @throws Fault NOT_FOUND, RIGHT_MISSING */
export async function explainNotifications(
  ctx: WriteContext,
  { objectId, user }: { objectId: string; user?: string },
  parts: ExplainParts,
): Promise<NotificationsExplanation> {
  const own = requireUser(ctx);
  const object = await requireVisible(ctx, objectId);
  const person = await personOf(ctx, user ?? own);
  const isOther = person?.id !== own;
  if (isOther) ctx.actor.require('role.assign');
  if (person === undefined) throw new Fault('NOT_FOUND', 'There is no such user.');
  const history = await recentEvents(ctx, object, parts.filters, MAX_EVENTS);
  const events = history.filter(({ type }) => NOTIFYING.includes(type));
  const explained = events.filter(({ type }) => !isOther || !hidesPeople(object, type));
  const outcomes = await outcomesOf(ctx, objectId, { person, events: explained }, parts);
  if (isOther) {
    ctx.emit({ type: 'NotificationsExplained', subject: `user:${person.id}`, data: { objectId } });
  } else ctx.markAuthorized();
  const { id, login, displayName, hasMail } = person;
  return {
    user: { id, login, displayName },
    watching: await isWatching(ctx, objectId, id),
    hasMailAddress: hasMail,
    timezone: timesOf(ctx, person).timezone,
    quietHours: { from: person.quietFrom, to: person.quietTo },
    events: events.map((event) => ({
      id: event.id,
      type: event.type,
      at: event.at,
      actor: { id: event.actor.id, displayName: event.actor.displayName },
      ...(outcomes.get(event.id) ?? nothing('UNKNOWN')),
    })),
  };
}

interface HistoryEvent {
  id: string;
  type: string;
  at: string;
  actor: { id: string | null; displayName: string };
}

type Outcome = Pick<ExplainedEvent, 'kind' | 'reason' | 'inConsole' | 'readAt' | 'mail'>;

function nothing(reason: Reason): Outcome {
  return { kind: null, reason, inConsole: false, readAt: null, mail: null };
}

async function personOf(ctx: ReadContext, idOrLogin: string): Promise<Recipient | undefined> {
  const id = isId(idOrLogin) ? idOrLogin : (await idsByName(ctx, 'user', [idOrLogin])).get(idOrLogin)?.[0];
  return id === undefined ? undefined : (await store.listRecipients(ctx, [id]))[0];
}

async function outcomesOf(
  ctx: ReadContext,
  objectId: string,
  { person, events }: { person: Recipient; events: readonly HistoryEvent[] },
  { actorsOf, systemActor }: ExplainParts,
): Promise<Map<string, Outcome>> {
  const ids = events.map(({ id }) => id);
  const since = instant(Date.parse(ctx.now) - KEPT_MS);
  const past = await store.listPastEvents(ctx, ids, objectId, { fields: assignmentCodes(ctx), since });
  const made = await store.listMade(ctx, person.id, objectId);
  const byEvent = new Map(made.map((one) => [one.eventId, one]));
  const comments = new Set(made.map(({ commentId }) => commentId));
  const audience = new Audience(contextOnBehalfOf(ctx, systemActor(ctx)), actorsOf);
  const loaded = await audience.load(past, { most: 0, also: person.id });
  const concerned = new Map(loaded.map((one) => [one.event.id, one]));
  await audience.loadUsers([person.id]);
  const outcomes = new Map<string, Outcome>();
  for (const event of past) {
    const one = concerned.get(event.id);
    const told = byEvent.get(event.id);
    const kinds = one === undefined ? undefined : audience.kindsOf(one).get(person.id);
    if (told !== undefined) {
      const { kind, inConsole, readAt, mail } = told;
      outcomes.set(event.id, { kind, reason: null, inConsole, readAt, mail });
    } else if (event.state !== 'done') outcomes.set(event.id, nothing(event.state === 'old' ? 'TOO_OLD' : 'PENDING'));
    else if (event.isImported) outcomes.set(event.id, nothing('IMPORTED'));
    else if (event.actorId === person.id) outcomes.set(event.id, nothing('OWN_ACTION'));
    else if (one === undefined) outcomes.set(event.id, nothing('COMMENT_ARCHIVED'));
    else {
      const verdict = await audience.judge(one, person.id, kinds ?? new Set());
      const isKnown = event.commentId !== null && comments.has(event.commentId);
      outcomes.set(event.id, nothing(reasonOf(verdict, isKnown)));
    }
  }
  return outcomes;
}

/** The user has no notification. If there would be one today, rights, choices or people have changed since. */
function reasonOf(verdict: Verdict, isKnown: boolean): Reason {
  if (verdict.kind === null) return verdict.reason;
  return isKnown ? 'COMMENT_KNOWN' : 'CHANGED_SINCE';
}

/**
 * Who is notified of events, and why others are not. A recipient is judged with their own rights on the current state of the
 * record, so users who may not see an event get no notification of it. Writes nothing.
 */
import { type CommentVisibility, rightForVisibility } from '../../contract/comment-visibility.ts';
import type { FieldRole } from '../../contract/field-roles.ts';
import { mentionedLogins } from '../../lib/mentions.ts';
import { Yielder } from '../../lib/yielding.ts';
import type { Actor, ReadContext } from '../../platform/unit-of-work/context.ts';
import { contextOnBehalfOf } from '../../platform/unit-of-work/unit-context.ts';
import { canSeeComment, findVisibleComments } from '../comments/index.ts';
import { idsByName, usersInside } from '../identity/index.ts';
import { fieldsInRole, registry, storedCodes } from '../metadata/index.ts';
import { findVisible, preload, recordOf, type RecordView, type VisibleObject } from '../objects/index.ts';
import {
  type Choice,
  type Concern,
  concerned,
  type Kind,
  type People,
  type Reason,
  tellsMentioned,
  wantedKind,
  withDefaults,
} from './rules.ts';
import { storedCode } from './store.ts';
import { type AudienceEvent, listRecipients, listWatchers, type Recipient, type WatcherPart } from './store-make.ts';

/** The rights of the ACTIVE users among these, by id. */
export type ActorsOf = (userIds: readonly string[]) => Promise<ReadonlyMap<string, Actor>>;

/** An event with everyone whom it may concern. */
export interface Concerned<Event extends AudienceEvent = AudienceEvent> {
  event: Event;
  concern: Concern;
  /** Of the comment that the event is about; null for other events. */
  visibility: CommentVisibility | null;
}

/** The notification that a user gets, or why there is none. */
export type Verdict = { kind: Kind; choice: Choice } | { kind: null; reason: Reason };

/** The roles of the fields that assign a record. */
const ASSIGNING = ['assignee', 'group'] as const satisfies readonly FieldRole[];

/** Stored codes of the fields that assign a record, of all types. */
export function assignmentCodes(ctx: ReadContext): string[] {
  const versions = [...registry(ctx).byId.values()].flatMap((type) => [...type.versions.values()]);
  const codes = versions.flatMap((version) =>
    ASSIGNING.flatMap((role) => fieldsInRole(version, role)).map(({ code }) => storedCode(ctx, version.typeId, code)),
  );
  return [...new Set(codes)];
}

/**
 * Whether the caller may not read a field that names people whom the event concerns: the list of notified users would reveal its
 * value. Rules can notify the people of any field.
 */
export function hidesPeople({ version, right }: VisibleObject, eventType: string): boolean {
  const named =
    eventType === 'RuleNotified'
      ? [...version.fields.values()].filter(({ dataType }) => dataType === 'user' || dataType === 'group')
      : [...ASSIGNING, 'requester' as const].flatMap((role) => fieldsInRole(version, role));
  return named.some(({ code }) => !right.canRead(code));
}

/** The users or groups that fields of the record name. @param values of the record, by current code */
function idsIn(
  { version }: RecordView,
  values: Readonly<Record<string, unknown>>,
  roles: readonly FieldRole[],
  dataType: 'user' | 'group',
): string[] {
  return roles
    .flatMap((role) => fieldsInRole(version, role))
    .filter((field) => field.dataType === dataType)
    .flatMap(({ code }) => values[code] ?? [])
    .filter((id): id is string => typeof id === 'string');
}

/** The people of the record now, and those to whom the event assigned it. */
function peopleOf(
  ctx: ReadContext,
  event: AudienceEvent,
  view: RecordView,
): Omit<Concern, 'mentioned' | 'told' | 'watchers'> {
  const people = (values: Readonly<Record<string, unknown>>): People => ({
    users: idsIn(view, values, ASSIGNING, 'user'),
    groups: idsIn(view, values, ASSIGNING, 'group'),
  });
  const changes = storedCodes(registry(ctx), view.type.id).decodeChanges(event.changes);
  const side = (index: 0 | 1): People =>
    people(Object.fromEntries(Object.entries(changes).map(([code, pair]) => [code, pair[index]])));
  const [before, after] = [side(0), side(1)];
  return {
    type: event.type,
    actorId: event.actorId,
    changesState: event.fields.includes('workflowState'),
    changed: event.changed,
    assigned: {
      users: after.users.filter((id) => !before.users.includes(id)),
      groups: after.groups.filter((id) => !before.groups.includes(id)),
    },
    assignee: people(view.row.values),
    requesters: idsIn(view, view.row.values, ['requester'], 'user'),
    participants: idsIn(view, view.row.values, ['participants'], 'user'),
  };
}

/** Stored codes of the fields that a notification of this kind is about; null if it is about none. */
export function fieldsOf(event: AudienceEvent, kind: Kind): readonly string[] | null {
  if (kind === 'assigned') return Object.keys(event.changes);
  return kind === 'watch' && event.type === 'ObjectUpdated' ? event.fields : null;
}

function listOf(ids: string | undefined): string[] {
  return (ids ?? '').split(',').filter((id) => id !== '');
}

export class Audience {
  readonly #ctx: ReadContext;
  readonly #actorsOf: ActorsOf;
  readonly #contexts = new Map<string, ReadContext | null>();
  readonly #recipients = new Map<string, Recipient>();
  #members = new Map<string, string[]>();

  /** @param ctx with the rights of the service: all comments are read */
  constructor(ctx: ReadContext, actorsOf: ActorsOf) {
    this.#ctx = ctx;
    this.#actorsOf = actorsOf;
  }

  /**
   * The events, in their order, with those whom they may concern. Events of records that do not exist and of archived comments
   * are left out. The number of statements does not depend on the number of events.
   *
   * @param begun event whose recipients up to this id are done
   */
  async load<Event extends AudienceEvent>(
    events: readonly Event[],
    part: WatcherPart,
    begun?: { event: Event; afterUser: string },
  ): Promise<Concerned<Event>[]> {
    const ctx = this.#ctx;
    const objectIds = [...new Set(events.map(({ objectId }) => objectId))];
    await preload(ctx, objectIds);
    const comments = await findVisibleComments(ctx, [
      ...new Set(events.filter(tellsMentioned).flatMap(({ commentId }) => commentId ?? [])),
    ]);
    const mentions = new Map<string, string[]>();
    // Comments can be long, and there can be 200 of them.
    const yielder = new Yielder();
    for (const [id, { row }] of comments) {
      mentions.set(id, mentionedLogins(row.body));
      await yielder.next();
    }
    const users = await idsByName(ctx, 'user', [...new Set([...mentions.values()].flat())]);
    const watchers = await listWatchers(ctx, objectIds, part);
    const left = begun && (await listWatchers(ctx, [begun.event.objectId], part, begun.afterUser));
    const found: Concerned<Event>[] = [];
    for (const event of events) {
      const view = await recordOf(ctx, event.objectId);
      const comment = event.commentId === null ? null : comments.get(event.commentId);
      if (view === undefined || comment === undefined) continue;
      const mentioned = (mentions.get(event.commentId ?? '') ?? []).flatMap((login) => users.get(login) ?? []);
      const watching = (event === begun?.event ? left : watchers)?.get(event.objectId) ?? [];
      const told = { users: listOf(event.told.users), groups: listOf(event.told.groups) };
      const concern = { ...peopleOf(ctx, event, view), mentioned, told, watchers: watching };
      found.push({ event, concern, visibility: comment?.row.visibility ?? null });
    }
    await this.#loadMembers(found);
    return found;
  }

  async #loadMembers(found: readonly Concerned[]): Promise<void> {
    const groups = new Set(
      found.flatMap(({ concern }) => [...concern.assigned.groups, ...concern.assignee.groups, ...concern.told.groups]),
    );
    const inside = groups.size === 0 ? [] : await usersInside(this.#ctx, [...groups]);
    for (const { start, id } of inside) {
      const members = this.#members.get(start);
      if (members === undefined) this.#members.set(start, [id]);
      else members.push(id);
    }
  }

  /** The users whom the event concerns, with all kinds that apply. Rights and choices are not considered. */
  kindsOf({ concern }: Concerned): Map<string, ReadonlySet<Kind>> {
    return concerned(concern, (group) => this.#members.get(group) ?? []);
  }

  /** Loads what `judge` needs of these users, with one statement for their choices and one for rights that are not cached. */
  async loadUsers(userIds: readonly string[]): Promise<void> {
    const missing = [...new Set(userIds)].filter((id) => !this.#contexts.has(id));
    if (missing.length === 0) return;
    const actors = await this.#actorsOf(missing);
    for (const id of missing) {
      const actor = actors.get(id);
      this.#contexts.set(id, actor === undefined ? null : contextOnBehalfOf(this.#ctx, actor));
    }
    for (const one of await listRecipients(this.#ctx, missing)) this.#recipients.set(one.id, one);
  }

  /** Choices and address of a user; undefined unless the user was loaded. */
  recipient(userId: string): Recipient | undefined {
    return this.#recipients.get(userId);
  }

  /** What the user is notified of. @param kinds that apply to the user, who was loaded */
  async judge({ event, concern, visibility }: Concerned, userId: string, kinds: ReadonlySet<Kind>): Promise<Verdict> {
    const own = this.#contexts.get(userId);
    const recipient = this.#recipients.get(userId);
    if (own === undefined || own === null || recipient === undefined) return { kind: null, reason: 'USER_ARCHIVED' };
    const object = await findVisible(own, event.objectId);
    if (object === undefined) return { kind: null, reason: 'RECORD_HIDDEN' };
    if (visibility !== null && !canSeeComment(object, visibility)) return { kind: null, reason: 'COMMENT_HIDDEN' };
    const known = new Set([...kinds].filter((one) => this.#mayKnow(object, event, one)));
    if (known.size === 0) return { kind: null, reason: kinds.size === 0 ? 'NOT_CONCERNED' : 'FIELDS_HIDDEN' };
    const isForAll = visibility === null || rightForVisibility(visibility) === null;
    const waits = isForAll && [...concern.requesters, ...concern.participants].includes(userId);
    const choices = withDefaults(recipient.choices ?? {}, waits);
    const kind = wantedKind(known, choices);
    return kind === undefined ? { kind: null, reason: 'NOT_WANTED' } : { kind, choice: choices[kind] };
  }

  /** Whether the user may read one of the fields that the notification is about. What watchers learn about fields is history. */
  #mayKnow(object: VisibleObject, event: AudienceEvent, kind: Kind): boolean {
    const fields = fieldsOf(event, kind);
    if (fields === null) return true;
    if (kind === 'watch' && !object.right.can('history')) return false;
    const changes = Object.fromEntries(fields.map((code) => [code, [null, null] as const]));
    const current = storedCodes(registry(this.#ctx), object.type.id).decodeChanges(changes);
    return Object.keys(current).some((code) => object.right.canRead(code));
  }
}

/** Who is notified of an event, as which kind, and when a mail is due. Pure. */

/** In the order in which the console lists the choices. */
export const KINDS = ['assigned', 'comment', 'mention', 'state', 'sla', 'rule', 'watch'] as const;
export type Kind = (typeof KINDS)[number];

export const MAIL_CHOICES = ['now', 'digest', 'never'] as const;

export interface Choice {
  console: boolean;
  mail: (typeof MAIL_CHOICES)[number];
}

export type Choices = Readonly<Record<Kind, Choice>>;

const MAILED: ReadonlySet<Kind> = new Set(['assigned', 'mention', 'state', 'sla']);
/** Mailed, too, to users who wait for help: public comments of their requests. */
const MAILED_TO_REQUESTERS: ReadonlySet<Kind> = new Set([...MAILED, 'comment']);
/** A user who is concerned in several ways gets one notification: of the first of these kinds that the user wants. */
const PRECEDENCE: readonly Kind[] = ['mention', 'assigned', 'comment', 'state', 'sla', 'rule', 'watch'];

/**
 * What the user chose, with the defaults of all other kinds.
 *
 * @param asRequester whether the user is notified as the requester of a record or as a participant
 */
export function withDefaults(chosen: Partial<Choices>, asRequester = false): Choices {
  const mailed = asRequester ? MAILED_TO_REQUESTERS : MAILED;
  const entries = KINDS.map((kind): [Kind, Choice] => [
    kind,
    chosen[kind] ?? { console: true, mail: mailed.has(kind) ? 'now' : 'never' },
  ]);
  return Object.fromEntries(entries) as unknown as Choices;
}

/** The kind that the user is notified of; undefined if the user wants none of them. */
export function wantedKind(kinds: ReadonlySet<Kind>, choices: Choices): Kind | undefined {
  return PRECEDENCE.find((kind) => kinds.has(kind) && (choices[kind].console || choices[kind].mail !== 'never'));
}

/** Why a user has no notification of an event. */
export const REASONS = [
  'NOT_CONCERNED',
  'OWN_ACTION',
  'USER_ARCHIVED',
  'RECORD_HIDDEN',
  'COMMENT_HIDDEN',
  'COMMENT_ARCHIVED',
  'COMMENT_KNOWN',
  'FIELDS_HIDDEN',
  'NOT_WANTED',
  'IMPORTED',
  'PENDING',
  'TOO_OLD',
  'CHANGED_SINCE',
  'UNKNOWN',
] as const;
export type Reason = (typeof REASONS)[number];

/** Ids of users and groups. */
export interface People {
  users: readonly string[];
  groups: readonly string[];
}

/** An event of a record with everyone whom it may concern. */
export interface Concern {
  type: string;
  actorId: string | null;
  changesState: boolean;
  /** For `CommentUpdated`: the changed properties of the comment. */
  changed: readonly string[];
  /** Whom this event assigned the record to. */
  assigned: People;
  /** Whom the record is assigned to now. */
  assignee: People;
  requesters: readonly string[];
  participants: readonly string[];
  mentioned: readonly string[];
  /** Whom a rule notifies. */
  told: People;
  watchers: readonly string[];
}

/** Events that watchers are notified of. Relations are not among them: their other end can be hidden. */
const WATCHED = new Set([
  'ObjectUpdated',
  'ObjectTransitioned',
  'ObjectArchived',
  'ObjectRestored',
  'AttachmentAdded',
  'SlaWarning',
  'SlaBreached',
]);

/** The events that can notify anybody. */
export const NOTIFYING: readonly string[] = [
  ...WATCHED,
  'ObjectCreated',
  'CommentAdded',
  'CommentUpdated',
  'RuleNotified',
];

/** Whether the event shows a comment to readers who could not see it before. */
function showsComment({ type, changed }: Pick<Concern, 'type' | 'changed'>): boolean {
  return type === 'CommentAdded' || (type === 'CommentUpdated' && changed.includes('visibility'));
}

/** Whether users whom the comment mentions are notified. A user is notified of a comment once (a unique index). */
export function tellsMentioned({ type, changed }: Pick<Concern, 'type' | 'changed'>): boolean {
  return type === 'CommentAdded' || (type === 'CommentUpdated' && changed.length > 0);
}

/** The users, or the members of the groups if there are none: a group is notified of what nobody has taken. */
function responsible({ users, groups }: People, membersOf: (groupId: string) => readonly string[]): readonly string[] {
  return users.length > 0 ? users : groups.flatMap(membersOf);
}

type Kinds = ReadonlySet<Kind>;

/** Adds kinds to sets that users share: an event can concern 100,000 users, and there are a few sets. */
class SharedKinds {
  readonly #none: Kinds = new Set();
  /** Set → kind → the set with it. */
  readonly #unions = new Map<Kinds, Map<Kind, Kinds>>();

  with(kinds: Kinds = this.#none, kind: Kind): Kinds {
    if (kinds.has(kind)) return kinds;
    const known = this.#unions.get(kinds) ?? new Map<Kind, Kinds>();
    const union = known.get(kind) ?? new Set([...kinds, kind]);
    this.#unions.set(kinds, known.set(kind, union));
    return union;
  }
}

/**
 * The users whom the event concerns, with all kinds that apply. The actor is not among them. Rights and choices are not
 * considered.
 */
export function concerned(event: Concern, membersOf: (groupId: string) => readonly string[]): Map<string, Kinds> {
  const found = new Map<string, Kinds>();
  const shared = new SharedKinds();
  const add = (kind: Kind, users: readonly string[]): void => {
    for (const id of users) {
      if (id !== event.actorId) found.set(id, shared.with(found.get(id), kind));
    }
  };
  add('assigned', responsible(event.assigned, membersOf));
  if (showsComment(event)) {
    add('comment', [...event.requesters, ...event.participants, ...responsible(event.assignee, membersOf)]);
  }
  if (tellsMentioned(event)) add('mention', event.mentioned);
  if (event.changesState && event.type !== 'ObjectCreated') add('state', event.requesters);
  if (event.type === 'SlaWarning' || event.type === 'SlaBreached') add('sla', responsible(event.assignee, membersOf));
  add('rule', [...event.told.users, ...event.told.groups.flatMap(membersOf)]);
  if (WATCHED.has(event.type) || showsComment(event)) add('watch', event.watchers);
  return found;
}

/** When a user wants no mails: local times as HH:MM. The end can be on the next day. */
interface QuietHours {
  from: string;
  to: string;
}

/** How long notifications are kept. */
export const KEPT_MS = 90 * 86_400_000;

/** The local time of digests of users without quiet hours. */
const DIGEST_AT = '08:00';
/** How long a mail waits for the other notifications of its call. */
const BATCH_SECONDS = 60;

/** The next time after `now` at which the clock of the time zone shows `time`. */
function nextAt(now: Temporal.ZonedDateTime, time: string): Temporal.ZonedDateTime {
  const today = now.withPlainTime(Temporal.PlainTime.from(time));
  return Temporal.ZonedDateTime.compare(today, now) > 0
    ? today
    : now.add({ days: 1 }).withPlainTime(Temporal.PlainTime.from(time));
}

function isQuiet(now: Temporal.ZonedDateTime, { from, to }: QuietHours): boolean {
  const time = now.toPlainTime().toString({ smallestUnit: 'minute' });
  return from <= to ? time >= from && time < to : time >= from || time < to;
}

/**
 * When a mail about an event is due: at once or at the end of the quiet hours; a digest once a day, at the end of the quiet hours
 * or at 08:00.
 *
 * @param now RFC 3339
 * @param isBatch whether notifications of the same call share the mail, which waits for them
 * @returns RFC 3339 UTC with milliseconds
 */
export function mailDueAt(
  now: string,
  mail: 'now' | 'digest',
  { timezone, quiet, isBatch = false }: { timezone: string; quiet: QuietHours | null; isBatch?: boolean },
): string {
  const instant = Temporal.Instant.from(now).add({ seconds: isBatch && mail === 'now' ? BATCH_SECONDS : 0 });
  const local = instant.toZonedDateTimeISO(timezone);
  const isAtOnce = mail === 'now' && (quiet === null || !isQuiet(local, quiet));
  const due = isAtOnce ? local : nextAt(local, quiet?.to ?? DIGEST_AT);
  return due.toInstant().toString({ smallestUnit: 'millisecond' });
}

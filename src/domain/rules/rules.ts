/** Decisions about rules: whether one fires on an event. No I/O, no clock. */
import { type EventType, EVENTS, isAbout } from '../../contract/events.ts';
import { type CommentVisibility, DEFAULT_VISIBILITY, seenVisibilities } from '../../contract/comment-visibility.ts';
import { ACTOR_IN, CHANGED, isEventField } from '../../contract/rule-fields.ts';
import { evaluate, type RecordFacts, type TypedField, type Variables } from '../../lib/filter.ts';
import type { RecordRight } from '../../platform/unit-of-work/context.ts';
import { type Rule, SINCE_STATE } from './registry.ts';

/** Maximum length of a chain of rules. */
export const MAX_RULE_DEPTH = 8;
/** Maximum number of firings that one event of the command causes, over all records. */
export const MAX_FIRINGS = 100;

/** What conditions may name of an event. */
export interface EventFacts {
  type: string;
  via: string;
  /** Id of the user; null for the system. */
  actor: string | null;
  commentVisibility: CommentVisibility | null;
  /** Of the comment that the event is about, or to which its file belongs: who may not see it gets no notice of the event. */
  seenAs: CommentVisibility | null;
  /** Codes of the changed fields, and `state` or `workflowState`. */
  changed: readonly string[];
}

/** The fields of the record that hold the user. */
function fieldsHolding({ values, system }: RecordFacts, user: string | null): string[] {
  if (user === null) return [];
  const held = Object.entries(values).filter(([, value]) =>
    Array.isArray(value) ? value.includes(user) : value === user,
  );
  return [...held.map(([code]) => code), ...(system.createdBy === user ? ['createdBy'] : [])];
}

/**
 * The facts of a record with those of an event; null: as if there was no event.
 *
 * @param canRead of fields, if a right limits what is seen
 */
export function withEvent(
  record: RecordFacts,
  event: EventFacts | null,
  canRead: (code: string) => boolean = () => true,
): RecordFacts {
  const isSeen = (code: string): boolean => !Object.hasOwn(record.values, code) || canRead(code);
  const facts = {
    'event.type': event?.type ?? null,
    'event.via': event?.via ?? null,
    'event.actor': event?.actor ?? null,
    'comment.visibility': event?.commentVisibility ?? null,
    [CHANGED]: event?.changed ?? [],
    [ACTOR_IN]: fieldsHolding(record, event?.actor ?? null).filter(isSeen),
  };
  return {
    values: record.values,
    // Computed on demand.
    get folded() {
      return record.folded;
    },
    system: { ...record.system, ...facts },
    ...(record.mismatched === undefined ? {} : { mismatched: record.mismatched }),
  };
}

/** A record after an event. */
export interface Occasion {
  event: EventFacts;
  /** The record as it is now, with the event. */
  after: RecordFacts;
  /** The record before the event; null if it did not exist. Undefined if the event does not change the record. */
  before: (() => RecordFacts) | null | undefined;
  titleField: string | null;
}

/**
 * Whether the condition can hold, without regard to rights and to who evaluates it. A right to read can only make a condition
 * false, so a rule that fails here does not fire.
 */
export function canMatch({ when, requires, dependsOnActor }: Rule, { after }: Occasion, variables: Variables): boolean {
  if (requires !== undefined && !requires.values.has(after.values[requires.field])) return false;
  return when === null || dependsOnActor || evaluate(when, after, variables);
}

export function isAboutComment(type: string): boolean {
  return Object.hasOwn(EVENTS, type) && isAbout(type as EventType, 'comment');
}

/** Who sees an event. Earlier events of files name no visibility: then only internal comments had files. */
export function seenAs(visibility: CommentVisibility | null, commentId: unknown): CommentVisibility | null {
  return visibility ?? (typeof commentId === 'string' ? DEFAULT_VISIBILITY : null);
}

/** Whether the user of the rule may see the comment that the event is about. */
function seesEvent({ seenAs: visibility }: EventFacts, right: RecordRight): boolean {
  return visibility === null || seenVisibilities((action) => right.can(action)).includes(visibility);
}

/** Whether the rule fires, judged by what the user of the rule may read. */
export function fires(
  { when, once, namesRecord, after: timing }: Rule,
  occasion: Occasion,
  variables: Variables,
  right: RecordRight,
): boolean {
  if (!right.can('read') || !seesEvent(occasion.event, right)) return false;
  // The moment of firing reveals the value of the field that it counts from.
  if (timing !== undefined && timing.since !== SINCE_STATE && !right.canRead(timing.since)) return false;
  if (when === null) return true;
  const { event, after, before, titleField } = occasion;
  const canRead = (code: string, field: TypedField): boolean => {
    if (field.kind === 'value') return right.canRead(code);
    if (code === 'title') return titleField !== null && right.canRead(titleField);
    return true;
  };
  // That a field changed, or holds the actor, reveals its value.
  const changed = event.changed.filter((code) => code === 'state' || code === 'workflowState' || right.canRead(code));
  const now = withEvent(after, { ...event, changed }, right.canRead);
  if (!evaluate(when, now, variables, canRead)) return false;
  if (once === 'every-time' || before === undefined || before === null || !namesRecord) return true;
  // A fact about the event did not hold before it.
  const known = (code: string, field: TypedField): boolean => !isEventField(field) && canRead(code, field);
  return !evaluate(when, withEvent(before(), null), variables, known);
}

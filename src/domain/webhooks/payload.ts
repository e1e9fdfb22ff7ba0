/**
 * The payload of an attempt. It is read with the executor's current rights, not stored with the event
 * (docs/spec/webhooks-and-inbound.md#events). Nothing is sent if the executor may not see the subject of the event, or if the
 * subscription's condition does not hold.
 */
import { conditionFor, evaluate, parseCondition, type TypedCondition } from '../../lib/filter.ts';
import { firstThatKnows } from '../../configuration/record-types.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import { fieldResolver, type RecordType, registry, today } from '../metadata/index.ts';
import {
  type EventFilter,
  type ObjectAnswer,
  preload,
  readCard,
  type VisibleObject,
  WorkflowState,
} from '../objects/index.ts';
import type { CompiledWebhook } from './rules.ts';
import type { LeasedDelivery } from './store-delivery.ts';
import Type, { type TSchema } from 'typebox';
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import type { DescribedEvent } from '../../contract/openapi-events.ts';
import { Id, nullable, oneOf, Revision, Values } from '../../contract/schemas.ts';
import { EVENT_DATA } from '../../contract/event-data.ts';
import { EVENTS as DECLARED, isAbout, WEBHOOK_EVENTS, type WebhookEvent } from '../../contract/events.ts';

/** Functions of other modules, passed in by `app.ts` so that this module does not depend on them. */
export interface EventParts {
  /** Filters that return the events about comments, relations and similar items that the caller may not see. */
  filters: readonly EventFilter[];
  /** A comment as the caller may see it now; undefined if hidden. */
  comment(ctx: ReadContext, object: VisibleObject, commentId: string): Promise<object | undefined>;
  /** The payload of an event about an article; undefined if the caller may not read it. */
  article?(ctx: ReadContext, eventData: Record<string, unknown>): Promise<object | undefined>;
}

type SentObject = Pick<
  ObjectAnswer,
  'id' | 'typeDefinitionId' | 'number' | 'revision' | 'state' | 'workflowState' | 'values'
>;

/**
 * `data` of a delivery about a record.
 *
 * @param card the record as the executor may read it now
 * @param comment of events about a comment that the executor may read
 */
export function recordData(
  card: SentObject,
  eventData: Readonly<Record<string, unknown>>,
  comment: object | undefined,
): Record<string, unknown> {
  const { id, typeDefinitionId, number, revision, state, workflowState, values } = card;
  const object = { id, typeDefinitionId, number, revision, state, workflowState, values };
  return { objectId: id, revision, object, ...eventData, ...(comment === undefined ? {} : { comment }) };
}

/** The parts of a subscription that an attempt needs. */
export interface Sender {
  id: string;
  version: number;
  webhook: CompiledWebhook;
}

export type Payload = { kind: 'send'; data: Record<string, unknown> } | { kind: 'skip'; reason: string };

/** Whether the delivery is a message of a rule, which is sent as it is. */
export function isMessage({ eventType }: Pick<LeasedDelivery, 'eventType'>): boolean {
  return eventType === 'RulePosted';
}

const OUT_OF_SIGHT: Payload = { kind: 'skip', reason: 'The executor may not see what the event is about.' };
const FILTERED: Payload = { kind: 'skip', reason: 'The condition of the subscription does not hold.' };

export class Payloads {
  readonly #parts: EventParts;
  /** Parsed conditions by subscription, version and type, cached per configuration snapshot. */
  readonly #parsed = new WeakMap<ConfigSnapshot, Map<string, TypedCondition | null>>();

  constructor(parts: EventParts) {
    this.#parts = parts;
  }

  /** Loads the records of many deliveries in one query. */
  async preload(ctx: ReadContext, deliveries: readonly LeasedDelivery[]): Promise<void> {
    await preload(ctx, [...new Set(deliveries.flatMap(({ objectId }) => objectId ?? []))]);
  }

  async of(ctx: ReadContext, delivery: LeasedDelivery, sender: Sender): Promise<Payload> {
    const { objectId, eventData } = delivery;
    // A message of a rule was filled with the rights of the rule.
    if (isMessage(delivery)) return { kind: 'send', data: eventData };
    if (objectId === null) return await this.#article(ctx, eventData, sender.webhook);
    const found = await readCard(ctx, objectId);
    if (found === undefined) return OUT_OF_SIGHT;
    const { object, card } = found;
    const event = { id: delivery.eventId, type: delivery.eventType, at: delivery.eventAt, data: eventData };
    const row = { ...event, actorId: null, actorName: null, via: '', revision: null, changes: null };
    for (const filter of this.#parts.filters) {
      if ((await filter(ctx, object, [row])).has(event.id)) return OUT_OF_SIGHT;
    }
    if (!this.#holds(ctx, object, sender)) return FILTERED;
    const { commentId } = eventData;
    const isOfComment = isAbout(delivery.eventType as WebhookEvent, 'comment') && typeof commentId === 'string';
    const comment = isOfComment ? await this.#parts.comment(ctx, object, commentId) : undefined;
    return { kind: 'send', data: recordData(card, eventData, comment) };
  }

  async #article(ctx: ReadContext, eventData: Record<string, unknown>, webhook: CompiledWebhook): Promise<Payload> {
    // Conditions are about records, so an article never satisfies one.
    if (webhook.filters.condition !== undefined) return FILTERED;
    const data = await this.#parts.article?.(ctx, eventData);
    return data === undefined ? OUT_OF_SIGHT : { kind: 'send', data: { ...data } };
  }

  /** Evaluates the condition on what the executor may see. A comparison with a hidden field is false. */
  #holds(ctx: ReadContext, object: VisibleObject, sender: Sender): boolean {
    const { condition } = sender.webhook.filters;
    if (condition === undefined) return true;
    const parsed = this.#condition(ctx, object.type, sender);
    if (parsed === null) return false;
    const variables = { ...ctx.actor.variables, now: ctx.now, today: today(registry(ctx), ctx.now) };
    const { titleField } = object.version;
    const own = fieldResolver(object.type);
    return evaluate(parsed, object.facts, variables, (code, { kind }) => {
      // A comparison with a field that the type does not have is false.
      if (kind === 'value') return own(code) !== undefined && object.right.canRead(code);
      return code !== 'title' || titleField === null || object.right.canRead(titleField);
    });
  }

  /**
   * The condition parsed for the record's type; null if it is invalid for that type. Fields that the type lacks are resolved
   * from other types.
   */
  #condition(ctx: ReadContext, type: RecordType, { id, version, webhook }: Sender): TypedCondition | null {
    let known = this.#parsed.get(ctx.config);
    if (known === undefined) {
      known = new Map();
      this.#parsed.set(ctx.config, known);
    }
    const key = `${id} ${version} ${type.id}`;
    let parsed = known.get(key);
    if (parsed === undefined) {
      try {
        const resolve = firstThatKnows([type, ...registry(ctx).active].map(fieldResolver));
        parsed = parseCondition(conditionFor(webhook.filters.condition, type.code), { resolve, variables: 'allowed' });
      } catch {
        parsed = null;
      }
      known.set(key, parsed);
    }
    return parsed;
  }
}

const Card = Type.Object(
  {
    id: Id,
    typeDefinitionId: Id,
    number: nullable(Type.String()),
    revision: Revision,
    state: Type.Union([Type.Literal('ACTIVE'), Type.Literal('ARCHIVED')]),
    workflowState: nullable(WorkflowState),
    values: Values,
  },
  { $id: 'EventObject', description: 'The record at the time of the attempt, as the executing user may read it.' },
);

const ABOUT_RECORD = { objectId: Id, revision: Revision, object: Card };

const CommentText = Type.Object(
  { id: Id, revision: Revision, body: Type.String(), visibility: oneOf(COMMENT_VISIBILITIES) },
  { description: 'The comment in its current state, if the executing user may read it.' },
);
function payloadOf(name: WebhookEvent): TSchema {
  const { subject, data } = DECLARED[name];
  const record = {
    ...ABOUT_RECORD,
    ...EVENT_DATA[data],
    ...(subject === 'comment' ? { comment: Type.Optional(CommentText) } : {}),
  };
  return Type.Object(
    {
      deliveryId: Type.String({
        format: 'uuid',
        description: 'The same for every attempt. Ignore a delivery whose id you have processed.',
      }),
      eventId: Id,
      eventType: Type.Literal(name),
      timestamp: Type.String({ format: 'date-time', description: 'Time of this attempt, equal to X-ITSM-Timestamp.' }),
      occurredAt: Type.String({ format: 'date-time', description: 'Time of the event.' }),
      data: Type.Object(subject === 'article' ? EVENT_DATA[data] : record),
    },
    { $id: `${name}Delivery` },
  );
}

/** The event types that webhooks deliver, with the schema of their deliveries. */
export const EVENTS: readonly DescribedEvent[] = WEBHOOK_EVENTS.map((name) => ({
  name,
  summary: DECLARED[name].summary,
  payload: payloadOf(name),
}));

/**
 * Payload schemas of deliveries by event type: the `webhooks` of the OpenAPI document
 * (docs/spec/webhooks-and-inbound.md#deliveries). Required properties are in every delivery of the type. Optional ones depend
 * on the event and on the rights of the executor.
 */
import Type, { type TSchema } from 'typebox';
import { oneOf } from '../../configuration/schemas.ts';
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import type { DescribedEvent } from '../../contract/openapi-events.ts';
import { Id, nullable, Revision, Values } from '../../contract/schemas.ts';
import { WorkflowState } from '../objects/index.ts';
import { EVENTS as DECLARED, WEBHOOK_EVENTS, type WebhookEvent } from '../../contract/events.ts';

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
  { $id: 'EventObject', description: 'The record as the executor may read it at the moment of the attempt.' },
);

const ABOUT_RECORD = { objectId: Id, revision: Revision, object: Card };

const CommentText = Type.Object(
  { id: Id, revision: Revision, body: Type.String(), visibility: oneOf(COMMENT_VISIBILITIES) },
  { description: 'The comment as it is now, where the executor may read it.' },
);
function payloadOf(name: WebhookEvent): TSchema {
  const { subject, data } = DECLARED[name];
  const record = {
    ...ABOUT_RECORD,
    ...data,
    ...(subject === 'comment' ? { comment: Type.Optional(CommentText) } : {}),
  };
  return Type.Object(
    {
      deliveryId: Type.String({
        format: 'uuid',
        description: 'The same on each attempt: do nothing for one you know.',
      }),
      eventId: Id,
      eventType: Type.Literal(name),
      timestamp: Type.String({ format: 'date-time', description: 'Of this attempt; the same as X-ITSM-Timestamp.' }),
      occurredAt: Type.String({ format: 'date-time', description: 'Of the event.' }),
      data: Type.Object(subject === 'article' ? data : record),
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

/**
 * Payload schemas of deliveries by event type: the `webhooks` of the OpenAPI document
 * (docs/spec/webhooks-and-inbound.md#deliveries). Required properties are in every delivery of the type. Optional ones depend
 * on the event and on the rights of the executor.
 */
import Type, { type TProperties, type TSchema } from 'typebox';
import { oneOf } from '../../configuration/schemas.ts';
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import type { DescribedEvent } from '../../contract/openapi-events.ts';
import { Id, nullable, Revision, Values } from '../../contract/schemas.ts';
import { WorkflowState } from '../objects/index.ts';
import { RECORD_EVENTS } from '../../contract/events.ts';

type Kind = (typeof RECORD_EVENTS)[number];

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
const ABOUT_COMMENT = { commentId: Id, comment: Type.Optional(CommentText) };
const ABOUT_RELATION = { relationId: Id, definitionCode: Type.String(), sourceObjectId: Id, targetObjectId: Id };
const ABOUT_SLA = { slaInstanceId: Id };
const ABOUT_ARTICLE = {
  articleId: Id,
  versionId: Id,
  code: Type.String(),
  locale: Type.String(),
  title: Type.String(),
};

const ABOUT: Readonly<Record<Kind, { summary: string; more?: TProperties; article?: true }>> = {
  ObjectCreated: { summary: 'A record was created.' },
  ObjectUpdated: { summary: 'Values of a record changed.' },
  ObjectTransitioned: {
    summary: 'A record changed its workflow state.',
    more: { transition: Type.Object({ id: Id, code: Type.String() }) },
  },
  ObjectArchived: { summary: 'A record was archived.' },
  ObjectRestored: { summary: 'An archived record was restored.' },
  CommentAdded: { summary: 'A comment was added to a record.', more: ABOUT_COMMENT },
  CommentUpdated: { summary: 'A comment changed.', more: ABOUT_COMMENT },
  CommentArchived: { summary: 'A comment was archived.', more: ABOUT_COMMENT },
  AttachmentAdded: {
    summary: 'A file was attached to a record.',
    more: { attachmentId: Id },
  },
  AttachmentArchived: {
    summary: 'A file of a record was archived.',
    more: { attachmentId: Id },
  },
  RelationAdded: { summary: 'A relation was made from a record.', more: ABOUT_RELATION },
  RelationArchived: { summary: 'A relation from a record was removed.', more: ABOUT_RELATION },
  SlaStarted: { summary: 'An SLA instance started.', more: ABOUT_SLA },
  SlaPaused: { summary: 'An SLA instance was paused.', more: ABOUT_SLA },
  SlaResumed: { summary: 'An SLA instance was resumed.', more: ABOUT_SLA },
  SlaStopped: { summary: 'An SLA instance was stopped.', more: ABOUT_SLA },
  SlaRecalculated: { summary: 'Target or calendar of an SLA instance changed.', more: ABOUT_SLA },
  SlaWarning: {
    summary: 'A part of the target is used up.',
    more: ABOUT_SLA,
  },
  SlaBreached: {
    summary: 'The target is used up.',
    more: ABOUT_SLA,
  },
  ArticlePublished: { summary: 'A version of an article was published.', article: true },
  ArticleArchived: { summary: 'A version of an article was archived.', article: true },
};

function payloadOf(kind: Kind): TSchema {
  const { more = {}, article } = ABOUT[kind];
  return Type.Object(
    {
      deliveryId: Type.String({
        format: 'uuid',
        description: 'The same on each attempt: do nothing for one you know.',
      }),
      eventId: Id,
      eventType: Type.Literal(kind),
      timestamp: Type.String({ format: 'date-time', description: 'Of this attempt; the same as X-ITSM-Timestamp.' }),
      occurredAt: Type.String({ format: 'date-time', description: 'Of the event.' }),
      data: Type.Object(article === true ? ABOUT_ARTICLE : { ...ABOUT_RECORD, ...more }),
    },
    { $id: `${kind}Delivery` },
  );
}

/** All event types with the schema of their deliveries. */
export const EVENTS: readonly DescribedEvent[] = RECORD_EVENTS.map((name) => ({
  name,
  summary: ABOUT[name].summary,
  payload: payloadOf(name),
}));

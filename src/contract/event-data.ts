/** The properties that the data of events always has. `EVENTS` names one of these for each event. */
import Type from 'typebox';
import { Id } from './schemas.ts';

export const EVENT_DATA = {
  none: {},
  comment: { commentId: Id },
  attachment: { attachmentId: Id, commentId: Type.Optional(Id) },
  relation: { relationId: Id, definitionCode: Type.String(), sourceObjectId: Id, targetObjectId: Id },
  rule: { rule: Type.String() },
  sla: { slaInstanceId: Id },
  article: { articleId: Id, versionId: Id, code: Type.String(), locale: Type.String(), title: Type.String() },
  transition: { transition: Type.Object({ id: Id, code: Type.String() }) },
} as const;

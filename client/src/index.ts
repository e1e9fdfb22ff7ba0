/** Public API of the Docket client. */
export type { Condition } from './condition.ts';
export { type Content, Download } from './content.ts';
export { Administration, Docket, type DocketOptions } from './docket.ts';
export {
  AlreadyExists,
  type ChangedField,
  Conflict,
  ConnectionFailed,
  CursorRewound,
  DocketError,
  type ErrorDetail,
  Forbidden,
  InvalidRequest,
  NotFound,
  RateLimited,
  RevisionConflict,
  ServiceFailed,
  Unauthenticated,
} from './errors.ts';
export type { Events } from './generated/api.ts';
export type * from './generated/api-types.ts';
export type * as admin from './generated/admin-types.ts';
export { ERROR_CODES, type ErrorCode } from './generated/codes.ts';
export type { FeedPage, FollowOptions, Upload } from './groups.ts';
export type { Patience } from './patience.ts';
export type {
  AnyTypes,
  EditOptions,
  Records,
  RecordType,
  RecordTypes,
  TypedHit,
  TypedObject,
} from './records.ts';
export type { AnswerInfo, Attempt, CallOptions } from './transport.ts';
export { type Event, verifyWebhook, type VerifyOptions, WebhookInvalid } from './webhooks.ts';

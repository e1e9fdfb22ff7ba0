/**
 * The closed list of event types. The journal stores all of them; history, webhooks, the audit log and the console derive from
 * it.
 */

/** Events of records and articles. Subscriptions may name them; a record's history shows the ones of records. */
export const RECORD_EVENTS = [
  'ObjectCreated',
  'ObjectUpdated',
  'ObjectTransitioned',
  'ObjectArchived',
  'ObjectRestored',
  'CommentAdded',
  'CommentUpdated',
  'CommentArchived',
  'AttachmentAdded',
  'AttachmentArchived',
  'RelationAdded',
  'RelationArchived',
  'SlaStarted',
  'SlaPaused',
  'SlaResumed',
  'SlaStopped',
  'SlaRecalculated',
  'SlaWarning',
  'SlaBreached',
  'ArticlePublished',
  'ArticleArchived',
] as const;
export type RecordEvent = (typeof RECORD_EVENTS)[number];

/** Events that only the audit log shows. */
export const AUDIT_EVENTS = [
  'ConfigChanged',
  'KeyCreated',
  'KeyRotated',
  'KeyRevoked',
  'SignedIn',
  'SignInRefused',
  'SignedOut',
  'PasswordSet',
  'UserCreated',
  'UserChanged',
  'UserArchived',
  'UserRestored',
  'GroupCreated',
  'GroupChanged',
  'GroupArchived',
  'GroupRestored',
  'GroupMemberAdded',
  'GroupMemberRemoved',
  'OrgUnitCreated',
  'OrgUnitChanged',
  'OrgUnitArchived',
  'OrgUnitRestored',
  'OrgMemberSet',
  'OrgMemberRemoved',
  'SigningSecretCreated',
  'SigningSecretRotated',
  'WebhookDeliveryRetried',
  'QueueShared',
  'QueueRemoved',
  'ArticleAudiencesSet',
  'ArticleDrafted',
  'ArticleDraftChanged',
  'ArticleDraftArchived',
  'ArticleRestored',
] as const;
export type AuditEvent = (typeof AUDIT_EVENTS)[number];

export type EventType = RecordEvent | AuditEvent;

/** The closed lists of rights and record actions. A check of any other name does not compile. */

/** Rights that are not tied to a record. */
export const GLOBAL_RIGHTS = [
  'config.manage',
  'role.assign',
  'user.administer',
  'key.manage',
  'audit.read',
  'kb.read',
  'kb.write',
  'kb.publish',
  'sla.control',
  'catalog.impersonate',
  'webhook.manage',
  'integration.manage',
  'import.manage',
  'import.execute',
  'export.execute',
] as const;
export type GlobalRight = (typeof GLOBAL_RIGHTS)[number];

/** Actions on records that a role can grant. */
export const RECORD_ACTIONS = [
  'read',
  'create',
  'update',
  'archive',
  'history',
  'transition',
  'comment.create',
  'comment.edit',
  'Private Comment',
  'attachment.add',
  'attachment.delete',
  'relation.create',
  'relation.delete',
] as const;
export type RecordAction = (typeof RECORD_ACTIONS)[number];

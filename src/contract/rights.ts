/** The closed lists of rights and record actions. A name that is not here does not compile where a right is checked. */

/** Rights that concern no single record. */
export const GLOBAL_RIGHTS = [
  'webhook.manage',
  'integration.manage',
  'import.manage',
  'import.execute',
  'export.execute',
  'kb.read',
  'kb.write',
  'kb.publish',
  'user.administer',
  'role.assign',
  'sla.control',
  'catalog.impersonate',
  'config.manage',
  'audit.read',
  'key.manage',
] as const;
export type GlobalRight = (typeof GLOBAL_RIGHTS)[number];

/** What a grant of a role may allow on records. */
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

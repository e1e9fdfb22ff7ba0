/** The closed lists of rights and record actions, and access to fields. A check of any other name does not compile. */

/** Rights that are not tied to a record. */
export const GLOBAL_RIGHTS = [
  'config.manage',
  'role.assign',
  'user.administer',
  'key.manage',
  'audit.read',
  'kb.portal',
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

/** In the administration API, either one allows reading articles: `kb.read` all of them, `kb.portal` those of portal bases. */
export const ARTICLE_READING_RIGHTS = ['kb.read', 'kb.portal'] as const satisfies readonly GlobalRight[];

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

/** Which fields a caller may read and write, on one record or on some records of a type. */
export interface FieldAccess {
  canRead(fieldCode: string): boolean;
  canWrite(fieldCode: string): boolean;
}

/** Whether the caller may learn that the field exists. Any other field is reported as unknown. */
export function canName(access: FieldAccess, fieldCode: string): boolean {
  return access.canRead(fieldCode) || access.canWrite(fieldCode);
}

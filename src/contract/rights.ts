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

/** General rights that users without a part in the desk's work may hold: reading articles, requesting for somebody else. */
const REQUESTER_RIGHTS: ReadonlySet<GlobalRight> = new Set(['kb.portal', 'kb.read', 'catalog.impersonate']);
/** Rights of administration: all others. */
export const ADMINISTRATION_RIGHTS: ReadonlySet<GlobalRight> = new Set(
  GLOBAL_RIGHTS.filter((right) => !REQUESTER_RIGHTS.has(right)),
);

/** The interfaces of the console, the one that a user with several gets first in front (docs/spec/access.md#interface). */
export const INTERFACES = ['desk', 'portal'] as const;
export type Interface = (typeof INTERFACES)[number];

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

/** Actions of people who work on records. A role with one of them is for the desk unless it says otherwise. */
export const DESK_ACTIONS: ReadonlySet<RecordAction> = new Set(['update', 'archive', 'transition', 'Private Comment']);

/** Which fields a caller may read and write, on one record or on some records of a type. */
export interface FieldAccess {
  canRead(fieldCode: string): boolean;
  canWrite(fieldCode: string): boolean;
}

/** Whether the caller may learn that the field exists. Any other field is reported as unknown. */
export function canName(access: FieldAccess, fieldCode: string): boolean {
  return access.canRead(fieldCode) || access.canWrite(fieldCode);
}

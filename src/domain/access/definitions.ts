/** Shapes of roles as they are stored: the bundle's shape with every default filled in (configuration, sections 3 and 5). */
import type { Condition } from '../../lib/filter.ts';
import type { LocalizedText } from '../metadata/door.ts';

/** Rights that concern no single record (configuration, section 5). */
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

/** What a record grant may allow (configuration, section 3, `roles[].records[].actions`). */
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

export interface RecordGrant {
  /** Code of a type, or '*' for all. */
  type: string;
  where?: Condition;
  actions: RecordAction[];
  fields: { read: string[] | '*'; write: string[] | '*' };
  /** Codes of the transitions, or '*'. */
  transitions: string[] | '*';
}

export interface RoleDefinition {
  code: string;
  name: LocalizedText;
  description?: LocalizedText;
  rights: GlobalRight[];
  records: RecordGrant[];
  /**
   * Memberships that holders of the role may give to others without having them: codes of groups and units, or '*' for all; ids in
   * the compiled form. Absent where there are none.
   */
  memberships?: { groups: string[] | '*'; orgUnits: string[] | '*' };
  assignedTo: { users: string[]; groups: string[] };
}

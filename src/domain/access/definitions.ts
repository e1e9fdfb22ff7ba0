/**
 * Role definitions as they are stored: the shape of the bundle with every default filled in (docs/spec/configuration.md#bundle,
 * docs/spec/access.md#roles-and-rights).
 */
import type { GlobalRight, RecordAction } from '../../contract/rights.ts';
import type { Condition } from '../../lib/filter.ts';
import type { LocalizedText } from '../metadata/index.ts';

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
   * Memberships that holders of the role may give to other users without having them: codes of groups and organisation units,
   * or '*' for all; ids in the compiled form. Absent if there are none.
   */
  memberships?: { groups: string[] | '*'; orgUnits: string[] | '*' };
  assignedTo: { users: string[]; groups: string[] };
}

/**
 * Identity: people, groups and organisation units, who is in which, and the one normal form in which their names are unique.
 *
 * Own tables: `users`, `groups`, `org_units`, `group_members`, `org_members`; calls, imports and the configuration bundle write
 * them. Invariants, kept by the database whoever comes at once: names are unique whatever their case, archived ones counted;
 * groups and units hold no cycle; a person is in one unit; nobody becomes a member of a group whose roles the caller neither
 * holds nor may assign. Every change is made on the revision that was read, and what changes rights raises the epoch.
 *
 * Not here: what a role allows, keys and sessions (access). Everything asks for the right `user.administer`.
 */
export { archiveGroup, createGroup, type GroupChange, type NewGroup, updateGroup } from './commands-groups.ts';
export { archiveUnit, createUnit, type NewUnit, type UnitChange, updateUnit } from './commands-units.ts';
export { archiveUser, createUser, type NewUser, updateUser, type UserChange } from './commands-users.ts';
export { requireMayHandOn } from './escalation.ts';
export { findKey } from './names.ts';
export { idsByName } from './names-store.ts';
export { findNames, type NamedKind } from './store-names.ts';
export { searchNames } from './queries-names.ts';
export {
  findGroup,
  findUnit,
  findUser,
  type GroupAnswer,
  type UnitAnswer,
  type UserAnswer,
  whoIs,
} from './queries.ts';
export { identityRoutes } from './routes.ts';
export { accessLock } from './store.ts';
export { identityChecks } from './store-checks.ts';

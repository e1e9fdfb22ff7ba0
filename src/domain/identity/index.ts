/**
 * Identity: users, groups and organisation units, their memberships, and the normal form in which their names are unique.
 *
 * API calls, imports and the configuration bundle
 * write them. Invariants, kept by the database under concurrency: names are unique regardless of case, also among archived
 * items. Groups and units contain no cycle. A user is in at most one unit. A caller can add a user to a group only if the
 * caller holds its roles or may assign them. Every change is guarded by the revision that was read. A change that affects
 * rights changes the rights version.
 *
 * Not here: what a role allows, keys and sessions (access). All operations need the right `user.administer`, except those
 * of the own profile.
 */
export { archiveGroup, createGroup, type GroupChange, type NewGroup, updateGroup } from './commands-groups.ts';
export { archiveUnit, createUnit, type NewUnit, type UnitChange, updateUnit } from './commands-units.ts';
export {
  archiveUser,
  createUser,
  type NewUser,
  ownProfile,
  updateOwnProfile,
  updateUser,
  type UserChange,
} from './commands-users.ts';
export { requireMayGrant } from './escalation.ts';
export { findKey } from './rules.ts';
export { idsByName } from './store.ts';
export { addressesCreatedSince, findByEmail, findContact, findNames, joinedSortName, type NamedKind } from './store.ts';
export { type NameChoice, searchNames, searchUsers } from './queries.ts';
export type { PeopleRange } from './store.ts';
export {
  findGroup,
  findUnit,
  findUser,
  type GroupAnswer,
  type UnitAnswer,
  type UserAnswer,
  whoIs,
} from './queries.ts';
export { accessLock } from './store.ts';
export { usersInside } from './store-members.ts';

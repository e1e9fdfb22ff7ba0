/**
 * The bundle's sections `users`, `groups` and `orgUnits` (docs/spec/configuration.md#bundle). API calls and imports change
 * users, too. Therefore absent properties of an entry stay unchanged; null clears them. Members are only added, and archived
 * items are not restored, unless identity is pruned, too.
 */
export { groupsSection } from './config-groups.ts';
export { orgUnitsSection } from './config-units.ts';
export { usersSection } from './config-users.ts';

/**
 * The bundle's sections `users`, `groups` and `orgUnits` (configuration, section 3). API calls and imports change users, too.
 * Therefore a bundle only adds and changes: absent properties stay unchanged (null clears), members are added, and archived
 * items are not restored. If identity is pruned, the bundle replaces the stored state.
 */
export { groupsSection } from './config-groups.ts';
export { orgUnitsSection } from './config-units.ts';
export { usersSection } from './config-users.ts';

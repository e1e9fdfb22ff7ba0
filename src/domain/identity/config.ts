/**
 * The bundle's sections of people: `users`, `groups` and `orgUnits` (configuration, section 3). Calls and imports change
 * people as well, so a bundle adds and changes: what an entry leaves out stays as it stands (null takes it away), members
 * are added, and nobody who was archived comes back, unless identity is pruned too.
 */
export { groupsSection } from './config-groups.ts';
export { orgUnitsSection } from './config-units.ts';
export { usersSection } from './config-users.ts';

/**
 * Identity: people, groups and organisation units, and the one normal form in which their names are unique.
 *
 * Own tables: `users`, `groups`, `org_units`, `group_members`, `org_members`. Today they are written by the configuration
 * bundle; invariants: names are unique whatever their case, groups and units hold no cycle, a person is in one unit.
 */
export { findKey } from './names.ts';
export { searchNames } from './queries-names.ts';
export { findNames, type NamedKind } from './store-names.ts';

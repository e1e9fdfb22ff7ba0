/**
 * Imports: rows of a source become records, users, groups or organisation units, with the rights of the importing user.
 *
 * Invariants: an external id of a source and kind refers to one
 * target. A row and its result are written in one transaction. A failed row does not affect other rows. A dry run stores
 * nothing but its run and its results, and these equal the results of the real run.
 *
 * Not here: the rules about what may be created or changed. Every row uses the command of the API operation for one item.
 */
export { importFile } from './commands.ts';
export type { Content } from './content.ts';
export type { Progress } from './run.ts';

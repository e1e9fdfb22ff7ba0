/**
 * Imports: rows of a source become records, users, groups or organisation units, under the rights of whoever imports.
 *
 * Own tables: `import_runs`, `import_rows`, `external_ids`. Invariants: an external id of a source and kind leads to one thing;
 * a row's result is written with the row or not at all; a row that fails undoes no other; a dry run leaves nothing but its run,
 * and its verdicts are those of the real run.
 *
 * Not here: what may be created or changed, and by whom. Every row goes through the command of the endpoint for one item.
 */
export type { Content } from './content.ts';
export { importFile } from './files.ts';
export { importRoutes } from './routes.ts';
export type { Progress } from './run.ts';
export { importChecks } from './store-checks.ts';
export { importFigures } from './store-figures.ts';

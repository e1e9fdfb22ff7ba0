/**
 * Workflow: the states a record moves through, and the transitions that move it.
 *
 * No tables of its own: definitions are configuration (section `workflows`), the state is a column of the record and is written
 * through `objects.applyChange` by this room alone. The snapshot is a help; the transition judges rights, state and condition
 * anew in its own unit.
 */
export { type TransitionInput, transitionObject } from './commands.ts';
export { workflowRoutes } from './routes.ts';

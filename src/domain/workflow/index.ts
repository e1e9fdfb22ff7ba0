/**
 * Workflow: the states of a record and the transitions between them.
 *
 * This module has no tables. Definitions are configuration (section `workflows`). The state is a column of the record; a
 * transition writes it through `objects.applyChange`. The answer of `GET /objects/{objectId}/workflow` is only informative: a
 * transition checks rights, state and condition again in its own unit of work.
 */
export { type TransitionInput, transitionObject } from './commands.ts';
export { fireOnReply } from './requester-reply.ts';
export { TransitionSchema } from './contract.ts';
export { findTransition, possibleTransitions, type TransitionAnswer } from './queries.ts';

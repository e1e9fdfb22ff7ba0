/**
 * Records. A record has a type, values of that type's stored version, a revision and a state.
 *
 * Invariants:
 * - The revision grows by one with each unit of work that changes values, state or workflow state, and with nothing else. All
 *   events of these changes share it.
 * - `values` holds only fields of the stored type version.
 * - An archived record can only be restored.
 * - A number is assigned once and never reused.
 * - Only the workflow module changes the workflow state, through `applyChange`.
 *
 * Not here: transitions (workflow); comments, attachments and relations; rights (access). A record that the caller may not read
 * behaves as if it did not exist: every read goes through `requireVisible` or the predicate in `listVisible`, and every answer
 * through `project` or, for pages whose rows all show the same fields, `page-text.ts`.
 */
export { type AssigneeOffer, assigneeOffer } from './assignable.ts';
export {
  applyChange,
  archiveObject,
  createFor,
  createObject,
  type ObjectPlan,
  updateObject,
} from './commands.ts';
export { liveAnswer, liveRevision } from './live-answers.ts';
export { changedSince, requireRevision } from './load.ts';
export {
  createObject as createOperation,
  HistoryActor,
  ObjectSchema,
  updateObject as updateOperation,
  WorkflowState,
} from './contract.ts';
export { type MigratedBatch, migrateTypeBatch, type Unmoved } from './migrate-type.ts';
export {
  findVisible,
  notFound,
  planHold,
  planOn,
  forget,
  preload,
  visibleIds,
  recordOf,
  plannedRow,
  storedRow,
  requireActive,
  requireAction,
  requireGranted,
  requireVisible,
} from './load.ts';
export {
  evaluateAccess,
  type ObjectAnswer,
  project,
  type RecordView,
  stateAnswer,
  type Authorized,
  type VisibleObject,
  readableTitle,
  readableValues,
  type LastChange,
  viewAfter,
  viewBefore,
  viewChangedBy,
} from './record.ts';
export type { ObjectRow } from './store.ts';
export { eventDecoder, type HistoryRow, stateTimes } from './store-history.ts';
export { type GuardedWrite, guarded, holdRevision, visibleRecord, whereState } from './store.ts';
export { recordMissing } from './health.ts';
export { requireReferences } from './references.ts';
export { findByField, type ListScope, type PageMark, readPage, readScope, type Wanted } from './queries.ts';
export { findChanges, idOfNumber, listActiveIds, recordProbe, valuesBytes } from './store-lookups.ts';
export { type EffectSource, effectSources, type EventOnRecord } from './effects.ts';
export { actorAnswer, creationData, eventAnswer, type EventFilter, historyFilters, recentEvents } from './history.ts';
export { readCard, replayObject, type WordMatch, wordMatch } from './queries.ts';
export { imagesIn, strangeImages } from './rules.ts';
export { type PlannedChange, planChange, requireNoneReadOnly } from './rules.ts';

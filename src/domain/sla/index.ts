/**
 * SLA: policies that limit the open time for records of a type, and the instances that measure it.
 *
 * Invariants:
 * - A record has at most one running instance of a policy.
 * - An instance starts, pauses, stops or changes its target in the unit of work that changes its record.
 * - Elapsed and due times are calculated from start, pauses, stop and target (`lib/worktime.ts`); they are never accumulated.
 * - Reads do not write.
 * - Each warning and each breach is reported once.
 * - A stopped instance does not change until it is recalculated by command.
 */
export { remainingTimes, type SlaFigures, slaFigures } from './queries.ts';
export {
  hasPolicy,
  hasSla,
  instanceOutcomes,
  outcomesOfStopped,
  policiesOfRecord,
  RUNNING_BY_RECORD,
  runningBreaches,
  timerBacklog,
} from './store.ts';
export {
  activeCalendars,
  durationMs,
  findCalendar,
  findWorkTime,
  isOpenTime,
  policiesOfType,
  requirePolicy,
} from './registry.ts';

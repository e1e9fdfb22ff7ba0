/**
 * SLA: what must be done for records of a type in how much open time, and how it goes.
 *
 * Own tables: `sla_instances`, `calendar_versions`. Invariants: a record has at most one running instance of a policy; an
 * instance starts, pauses, gets another target and stops in the very unit that changes its record; what stands is reckoned from
 * its start, its pauses, its stop and its target by one algebra (`lib/worktime.ts`), never counted up; reading writes nothing;
 * each warning and breach is told once; a stopped instance stays as it stopped until somebody recalculates it.
 */
export { slaFollower } from './follow.ts';
export { dueTimeMover, fireDue } from './jobs.ts';
export { slaRoutes } from './routes.ts';
export { slaChecks } from './store-checks.ts';
export { timerFigures } from './store-figures.ts';
export { timerBacklog } from './store.ts';

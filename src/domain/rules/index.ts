/**
 * Rules: what happens by itself when records change (docs/spec/rules.md). Rules are configuration (section `rules`) and
 * run inside the unit of work of the change that fires them, with the rights of the user that each names.
 *
 * Own tables: `rule_runs`, `rule_timers`. Invariants:
 * - A rule acts through the commands that any caller uses, so it can never do or show more than its user.
 * - A rule fires at most once for a record in one unit of work, and chains of rules end.
 * - A time-based rule fires once for each value of `since`, with any number of processes.
 * - The actions of one run are done all or none, and its row in the log is committed with them.
 */
export { fireDueRules, timerUpdater } from './jobs.ts';
export { ruleReaction } from './reaction.ts';
export { ruleEffects } from './queries.ts';
export { ruleRoutes } from './routes.ts';
export { sampleMessage } from './sample-message.ts';
export { purgeRuleRuns } from './store.ts';
export { ruleMoment } from './store-timers.ts';

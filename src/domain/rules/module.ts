/**
 * Rules: what happens by itself when records change (docs/spec/rules.md). Rules are configuration (section `rules`) and
 * run inside the unit of work of the change that fires them, with the rights of the user that each names.
 *
 * Invariants:
 * - A rule acts through the commands that any caller uses, so it can never do or show more than its user.
 * - A rule fires at most once for a record in one unit of work, and chains of rules end.
 * - A time-based rule fires once for each value of `since`, with any number of processes.
 * - The actions of one run are done all or none, and its row in the log is committed with them.
 */
import { defineModule } from '../module.ts';
import { sampleMessage } from '../webhooks/index.ts';
import { rulesSection } from './config.ts';
import { ruleTasks } from './jobs.ts';
import { ruleEffects } from './queries.ts';
import { ruleReaction } from './reaction.ts';
import { ruleRoutes } from './routes.ts';
import { sampleMessageOf } from './sample-message.ts';
import { ruleMoment } from './store-timers.ts';

export const rules = defineModule({
  name: 'rules',
  // Rules run the commands of a record's parts; their texts are filled like those of macros, and calendars count their time.
  dependsOn: ['objects', 'comments', 'relations', 'workflow', 'metadata', 'desk', 'sla', 'webhooks'],
  tables: {
    rule_runs: 'A log of what rules did, purged by number; the changes are in the history of the records.',
    rule_timers: 'When time-based rules fire; computed again from the history of records when they do.',
  },
  operations: ruleRoutes,
  sections: [rulesSection],
  reaction: ({ actorOf, log }) =>
    ruleReaction(actorOf, (codes) => log.warn({ rules: codes }, 'change refused because its rules fire each other')),
  tasks: ruleTasks,
  moments: [ruleMoment],
  effects: [async (ctx, { reactions }) => ({ rules: await ruleEffects(ctx, reactions) })],
  provides: [sampleMessage.by(() => sampleMessageOf)],
});

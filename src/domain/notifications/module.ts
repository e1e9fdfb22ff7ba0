import { people } from '../../platform/module.ts';
import { defineModule } from '../module.ts';
import { notificationEffects } from './effects.ts';
import { notificationChecks, notificationMetrics } from './health.ts';
import { notificationJobs } from './jobs.ts';
import { notificationRoutes } from './routes.ts';
import { notificationMoment } from './store.ts';
import { importsForBackup } from './store-make.ts';

export const notifications = defineModule({
  name: 'notifications',
  // Rights on comments are part of the statements. Groups are notified by their members.
  dependsOn: ['identity', 'objects', 'comments', 'attachments', 'metadata'],
  tables: {
    notifications: 'Derived from events, purged by age; each has its record (I4).',
    notification_imports: 'Imports that notify; each row is of a transaction of the journal.',
    notification_mails: 'Mails that are not sent yet.',
    notification_settings: 'Choices of one person.',
    notification_watchers: 'What one person watches; each has its record (I4).',
    notification_watch_check: 'Progress of judging watches.',
  },
  operations: notificationRoutes,
  tasks: ({ db, clock, work, system, versions, actorsOf, settings }) =>
    notificationJobs({
      db,
      clock,
      work,
      system,
      refresh: () => versions.refresh(),
      actorsOf,
      sendsMail: settings.smtp !== undefined,
    }),
  moments: [notificationMoment],
  checks: notificationChecks,
  metrics: notificationMetrics,
  backup: { notification_imports: importsForBackup },
  effects: [
    async (ctx, tried, _seen, { get, actorsOf, settings }) => {
      const system = get(people).systemCaller(ctx.config).actor;
      const parts = { actorsOf, sendsMail: settings.smtp !== undefined, system };
      return { notifications: await notificationEffects(ctx, tried.events, parts) };
    },
  ],
});

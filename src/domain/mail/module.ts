import { defineModule } from '../module.ts';
import { mailboxesSection, templatesSection } from './config.ts';
import { mailMetrics } from './health.ts';
import { mailTasks } from './jobs.ts';
import { mailRoutes } from './routes.ts';
import { messageUse } from './store.ts';
import { mailMoment } from './store-outgoing.ts';

export const mail = defineModule({
  name: 'mail',
  dependsOn: [
    'objects',
    'comments',
    'attachments',
    'metadata',
    'identity',
    'access',
    'desk',
    'notifications',
    // The passwords of mailboxes are stored secrets.
    'webhooks',
  ],
  tables: ['mail_threads', 'mail_messages', 'mail_outgoing', 'mail_bounces', 'mailbox_readers'],
  operations: mailRoutes,
  sections: [templatesSection, mailboxesSection],
  tasks: mailTasks,
  moments: [mailMoment],
  metrics: mailMetrics,
  constraints: { mail_messages_once: { code: 'ALREADY_EXISTS', field: 'message' } },
  blobUses: [messageUse],
});

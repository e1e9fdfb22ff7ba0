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
  tables: {
    mail_threads: 'Handles of records and users in the addresses of replies.',
    mail_messages: 'A log of received mail; its effects are in the history of records.',
    mail_outgoing: 'Mails about events that are in the history of records.',
    mail_bounces: 'What bounces say about mails to users.',
    mailbox_readers: 'Leases of the processes that read mailboxes.',
  },
  operations: mailRoutes,
  sections: [templatesSection, mailboxesSection],
  tasks: mailTasks,
  moments: [mailMoment],
  metrics: mailMetrics,
  constraints: { mail_messages_once: { code: 'ALREADY_EXISTS', field: 'message' } },
  blobUses: [messageUse],
});

import { instant } from '../../platform/clock.ts';
import { addWithFiles } from '../comments/index.ts';
import { defineModule } from '../module.ts';
import { addCommentWithFiles } from './commands.ts';
import { attachmentChecks } from './health.ts';
import { attachmentEvents } from './queries.ts';
import { attachmentRoutes } from './routes.ts';
import { attachmentUse } from './store.ts';
import { draftUse, sweepDrafts } from './store-drafts.ts';

export const attachments = defineModule({
  name: 'attachments',
  // The limit of a file's size is a setting of the configuration.
  dependsOn: ['objects', 'comments', 'metadata'],
  tables: {
    attachments: { rows: 'Files of records.', replayed: true },
    attachment_drafts: 'Files that no comment has taken yet: no event, and removed after a day.',
  },
  operations: attachmentRoutes,
  checks: attachmentChecks,
  historyFilters: [attachmentEvents],
  blobUses: [attachmentUse, draftUse],
  tasks: ({ db, clock }) => [
    {
      name: 'attachment-drafts',
      everyMs: 3_600_000,
      run: async () => {
        await sweepDrafts(db, instant(clock.now()));
        return false;
      },
    },
  ],
  provides: [addWithFiles.by(() => addCommentWithFiles)],
});

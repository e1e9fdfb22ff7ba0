import { instant } from '../../platform/clock.ts';
import { defineModule } from '../module.ts';
import { knowledgeBasesSection } from './config.ts';
import { knowledgeChecks } from './health.ts';
import { knowledgeRoutes } from './routes.ts';
import { articleImageUse } from './store.ts';
import { countViewDays } from './store-reading.ts';

export const knowledge = defineModule({
  name: 'knowledge',
  dependsOn: ['metadata'],
  tables: {
    kb_articles: 'Each change is in the audit log without the text.',
    kb_versions: 'Each change is in the audit log without the text.',
    kb_images: 'Content is compared with its hash and size (I8).',
    kb_views: 'Views of articles are counted, not recorded as events.',
    kb_view_days: 'Views of articles are counted, not recorded as events.',
    kb_votes: 'Votes of readers are counted, not recorded as events.',
  },
  operations: knowledgeRoutes,
  sections: [knowledgeBasesSection],
  checks: knowledgeChecks,
  constraints: { kb_versions_draft: { code: 'ALREADY_EXISTS', field: 'code' } },
  blobUses: [articleImageUse],
  tasks: ({ db, clock }) => [
    {
      name: 'article-views',
      everyMs: 3_600_000,
      run: () => countViewDays(db, instant(clock.now()).slice(0, 10)),
    },
  ],
});

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
  tables: ['kb_articles', 'kb_versions', 'kb_images', 'kb_views', 'kb_view_days', 'kb_votes'],
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

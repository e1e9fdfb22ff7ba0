import { transitionFacts } from '../access/index.ts';
import { defineModule } from '../module.ts';
import { recordProbe } from '../objects/index.ts';
import { workflowsSection } from './config.ts';
import { transitionOf } from './queries.ts';
import { workflowRoutes } from './routes.ts';

export const workflow = defineModule({
  name: 'workflow',
  // What answers of requesters fire has the rights of the configuration.
  dependsOn: ['objects', 'metadata', 'access'],
  tables: {
    removed_states: 'Follows from the workflows in the audit log: states that were removed from them.',
  },
  operations: workflowRoutes,
  sections: [workflowsSection(recordProbe)],
  provides: [transitionFacts.by(() => transitionOf)],
});

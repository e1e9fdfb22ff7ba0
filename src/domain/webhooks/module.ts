import { defineModule } from '../module.ts';
import { deliveryTasks } from './jobs.ts';
import { signingSecretsSection, webhooksSection } from './config.ts';
import { deliveryEffects } from './effects.ts';
import { deliveryMetrics, webhookChecks } from './health.ts';
import { EVENTS } from './payload.ts';
import { webhookRoutes } from './routes.ts';
import { deliveryMoment } from './store-delivery.ts';

export const webhooks = defineModule({
  name: 'webhooks',
  // Events about comments and articles are sent with these.
  dependsOn: ['objects', 'metadata', 'comments', 'knowledge'],
  tables: ['signing_secret_values', 'webhook_periods', 'webhook_deliveries', 'webhook_attempts'],
  operations: webhookRoutes,
  events: EVENTS,
  sections: [signingSecretsSection, webhooksSection],
  tasks: deliveryTasks,
  moments: [deliveryMoment],
  checks: webhookChecks,
  metrics: deliveryMetrics,
  effects: [(ctx, _tried, { visible, scopes }) => ({ webhooks: deliveryEffects(ctx, visible, scopes) })],
  isUrgent: (config) => config.items('webhooks').length > 0,
});

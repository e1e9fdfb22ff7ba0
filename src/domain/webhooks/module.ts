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
  tables: {
    signing_secret_values: 'Encrypted with the master key; decryption detects a change.',
    webhook_periods: 'When subscriptions were enabled; each change of one is in the audit log.',
    webhook_deliveries: 'Compared with the events (I6, I7), purged by age.',
    webhook_attempts: 'A log of deliveries, purged by age.',
  },
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

/**
 * Outgoing webhooks: subscriptions, signing secrets, and the two stages of delivery. Events leave the outbox as deliveries, one
 * for each subscription in whose period they lie, by their places in the journal (dispatch); deliveries are leased, attempted and
 * noted (delivery).
 *
 * Own tables: `signing_secret_values`, `webhook_periods`, `webhook_deliveries`, `webhook_attempts`; subscriptions are
 * configuration items. Invariants: an event leaves the outbox only with its deliveries; what is sent is read with the executor's
 * rights at each attempt; what is signed are the very bytes that are sent; a crash repeats an attempt under the same id and
 * loses none; a disabled or archived subscription begins no attempt.
 */
export { Deliverer, type DeliveryLimits } from './deliver.ts';
export { dispatchEvents } from './dispatch.ts';
export { examineDeliveries, examineSecrets, redispatch, type SecretsExamined } from './doctor.ts';
export { EVENTS } from './event-schemas.ts';
export { webhookRoutes } from './routes.ts';
export { createSecret, rotateSecret } from './signing-secrets.ts';
export { webhookChecks } from './store-checks.ts';
export { deliveryBacklog, purgeDeliveries } from './store-delivery.ts';
export { deliveryFigures } from './store-figures.ts';

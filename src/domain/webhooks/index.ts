/**
 * Outgoing webhooks: subscriptions, signing secrets, and two stages of delivery. Dispatch turns events of the journal into
 * deliveries, one for each subscription that was enabled at the event's position in the journal. Delivery leases them, makes the
 * attempts and stores the results.
 *
 * Subscriptions are
 * configuration items. Invariants:
 * - Dispatch moves on in the journal only together with the deliveries that it makes.
 * - The payload is read with the executor's rights at each attempt.
 * - The signature covers exactly the bytes that are sent.
 * - A crash repeats an attempt under the same delivery id and loses none.
 * - A disabled or archived subscription starts no attempt.
 */
export { type DeliveryLimits, deliveryLimits } from './deliver.ts';
export { examineDeliveries, examineSecrets, redispatch, type SecretsExamined } from './health.ts';
export { recordData } from './payload.ts';
export { requestOf, shownSecret, type SignedRequest } from './rules.ts';
export {
  answerOf,
  type AskedSample,
  sampleMessage,
  sampleRequest,
  type TestAnswer,
  testSubscription,
} from './sample.ts';
export { createSecret, rotateSecret, secretText, setSecret } from './signing-secrets.ts';
export { DISPATCH } from './dispatch.ts';
export { deliveryBacklog } from './store-delivery.ts';
export { sentData } from './store-dispatch.ts';

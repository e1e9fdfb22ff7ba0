/** The webhooks in the OpenAPI document. */
import type { TSchema } from 'typebox';

type Json = Record<string, unknown>;

/** An event type that is delivered to webhooks. */
export interface DescribedEvent {
  name: string;
  summary: string;
  /** Shape of the body. */
  payload: TSchema;
}

const DELIVERY_HEADERS: readonly (readonly [string, string])[] = [
  ['X-ITSM-Delivery', 'The deliveryId. It is the same for every attempt.'],
  [
    'X-ITSM-Timestamp',
    'Time of this attempt, RFC 3339 UTC with milliseconds. Reject a delivery whose timestamp is older than five minutes.',
  ],
  [
    'X-ITSM-Signature',
    '`sha256=` and the HMAC-SHA256 in hex of `timestamp.deliveryId.body`, with the raw body. The key is the signing secret exactly as it was shown.',
  ],
  ['webhook-id', 'The deliveryId, under the name that libraries for Standard Webhooks expect.'],
  ['webhook-timestamp', 'Time of this attempt in Unix seconds.'],
  [
    'webhook-signature',
    '`v1,` and the HMAC-SHA256 in base64 of `id.seconds.body`, with the raw body. The key is the base64-decoded part of the secret after `whsec_`. While a rotated secret overlaps, there are two signatures, separated by a space.',
  ],
];

/** The webhook descriptions by event type (docs/spec/webhooks-and-inbound.md#deliveries). */
export function webhooksOf(events: readonly DescribedEvent[], schemaOf: (schema: TSchema) => Json): Json {
  const parameters = DELIVERY_HEADERS.map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  }));
  return Object.fromEntries(
    events.map(({ name, summary, payload }) => [
      name,
      {
        post: {
          operationId: `webhook.${name}`,
          tags: ['Webhooks'],
          summary,
          description:
            'Sent to each subscription for this event type. Retried according to the retry policy until the receiver accepts it.',
          security: [],
          parameters,
          requestBody: { required: true, content: { 'application/json': { schema: schemaOf(payload) } } },
          responses: {
            '2XX': { description: 'Accepted. Not retried.' },
            429: { description: 'Retried according to the retry policy, but not before `Retry-After`.' },
            '4XX': { description: 'Rejected. Not retried.' },
            '5XX': { description: 'Retried according to the retry policy.' },
          },
        },
      },
    ]),
  );
}

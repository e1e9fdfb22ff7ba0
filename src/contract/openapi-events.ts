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
  ['X-ITSM-Delivery', 'The deliveryId: the same on each attempt.'],
  ['X-ITSM-Timestamp', 'Of this attempt, RFC 3339 UTC with milliseconds; refuse one that is older than five minutes.'],
  [
    'X-ITSM-Signature',
    '`sha256=` and the hex HMAC-SHA256, keyed with the signing secret as it was shown, over timestamp, dot, delivery id, dot and the raw body.',
  ],
  ['webhook-id', 'The deliveryId once more, for libraries of Standard Webhooks.'],
  ['webhook-timestamp', 'Unix seconds of this attempt.'],
  [
    'webhook-signature',
    '`v1,` and a base64 HMAC-SHA256, keyed with the decoded part of the secret after `whsec_`, over id, dot, Unix seconds, dot and the raw body; two, with a space between, while a rotated secret overlaps.',
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
          description: 'Sent to each subscription that takes this kind, again and again until the receiver accepts it.',
          security: [],
          parameters,
          requestBody: { required: true, content: { 'application/json': { schema: schemaOf(payload) } } },
          responses: {
            '2XX': { description: 'Accepted: not sent again.' },
            429: { description: 'Sent again within the retry policy, not before `Retry-After`.' },
            '4XX': { description: 'Refused: not sent again.' },
            '5XX': { description: 'Sent again within the retry policy.' },
          },
        },
      },
    ]),
  );
}

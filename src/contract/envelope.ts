/**
 * The response envelope (docs/spec/conventions.md#requests, docs/spec/conventions.md). The three operations without an
 * envelope are declared with `raw`. Errors have the same shape everywhere, even if no operation matched.
 */
import Type from 'typebox';
import { contractDetails, type FaultCause, type FaultDetails } from '../lib/fault.ts';
import { JsonText } from '../lib/json.ts';

const API_VERSION = 'v1';

/** Valid values of a caller's `X-Correlation-Id`; others are replaced. They need no escaping in JSON, headers or logs. */
export const CORRELATION_ID = /^[A-Za-z0-9._-]{1,128}$/;

export const MetaSchema = Type.Object(
  {
    correlationId: Type.String({
      description: 'Equal to the header X-Correlation-Id. Identifies the request in the log.',
      examples: ['0197a3c2-5d8e-7c10-9f2b-6d1f1b0a7c55'],
    }),
    apiVersion: Type.Literal(API_VERSION),
  },
  { $id: 'Meta' },
);

const ErrorDetailSchema = Type.Object(
  {
    path: Type.String({
      description:
        'A JSON Pointer into the body, or `query.NAME`, `header.NAME`, `path`; for a bundle, the file and the line.',
      examples: ['/values/priority'],
    }),
    code: Type.String({ examples: ['REQUIRED'] }),
    message: Type.String({ examples: ['A value is required.'] }),
    file: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'For a bundle: the file with the problem.' }),
    ),
    line: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    column: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    at: Type.Optional(Type.String({ description: 'For a bundle: the path in the document.' })),
  },
  { $id: 'ErrorDetail' },
);

const ErrorReasonSchema = Type.Object(
  {
    reason: Type.String({
      description:
        'Identifies the problem, so that clients can show texts in other languages. It can be more specific than the code.',
      examples: ['REQUIRED'],
    }),
    params: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Values that the message contains, such as `max`. Absent if there are none.',
      }),
    ),
  },
  { $id: 'ErrorReason' },
);

const ErrorMetaSchema = Type.Object(
  {
    ...MetaSchema.properties,
    dryRun: Type.Optional(Type.Literal(true)),
    cause: Type.Optional(
      Type.Object(ErrorReasonSchema.properties, {
        description: 'The reason of `error.message`, if it is more specific than `error.code`.',
      }),
    ),
    reasons: Type.Optional(
      Type.Array(ErrorReasonSchema, { description: 'The reason of each entry of `error.details`, in the same order.' }),
    ),
  },
  { $id: 'ErrorMeta' },
);

export const ErrorSchema = Type.Object(
  {
    error: Type.Object({
      code: Type.String({
        description: 'One of the error codes that the operation lists for this status.',
        examples: ['INVALID_REQUEST'],
      }),
      message: Type.String({ description: 'One sentence that says what to do.' }),
      details: Type.Union([Type.Array(ErrorDetailSchema), Type.Record(Type.String(), Type.Unknown())], {
        description: 'A list with one entry per problem, or an object for some codes. Empty if there are no details.',
      }),
    }),
    meta: ErrorMetaSchema,
  },
  { $id: 'Error' },
);

/**
 * The body of a success: `{data, meta}`. `correlationId` must match `CORRELATION_ID`. Undefined data becomes `null`.
 *
 * @param meta further members of `meta`
 */
export function success(data: unknown, correlationId: string, meta?: MoreMeta): string {
  const [head, tail] = aroundData(correlationId, meta);
  return `${head}${data instanceof JsonText ? data.text : (JSON.stringify(data) ?? 'null')}${tail}`;
}

/** The text of a success body before and after its data. */
export function aroundData(correlationId: string, meta?: MoreMeta): [head: string, tail: string] {
  const more = meta === undefined ? '' : `,${JSON.stringify(meta).slice(1, -1)}`;
  return ['{"data":', `,"meta":{"correlationId":"${correlationId}","apiVersion":"${API_VERSION}"${more}}}`];
}

/** Members of `meta` that an operation declares; at least one. */
export type MoreMeta = Readonly<Record<string, unknown>>;

/**
 * The body of an error: `{error: {code, message, details}, meta}`. The reasons of the details are in `meta.reasons`, that of the
 * message in `meta.cause` if it is more specific than the code. `correlationId` must match `CORRELATION_ID`.
 */
export function failure(
  code: string,
  { message, reason, params }: Pick<FaultCause, 'message'> & Partial<FaultCause>,
  details: FaultDetails,
  correlationId: string,
  dryRun = false,
): string {
  const error = JSON.stringify({ code, message, details: contractDetails(details) });
  const cause = reason === undefined || reason === code ? '' : `,"cause":${JSON.stringify({ reason, params })}`;
  const reasons =
    Array.isArray(details) && details.length > 0
      ? `,"reasons":${JSON.stringify(details.map(({ reason, params }) => ({ reason, params })))}`
      : '';
  return `{"error":${error},"meta":{"correlationId":"${correlationId}","apiVersion":"${API_VERSION}"${dryRun ? ',"dryRun":true' : ''}${cause}${reasons}}}`;
}

/**
 * The closed catalogue of `error.code` with HTTP statuses (docs/spec/conventions.md). A fault with any other
 * code is answered with 500 `INTERNAL`.
 */
export const FAULTS = {
  INVALID_REQUEST: { status: 400, meaning: 'A parameter, header or body does not match the API documentation.' },
  INVALID_JSON: { status: 400, meaning: 'The body is not strict JSON.' },
  INVALID_VALUES: { status: 400, meaning: 'Field values are invalid. Details name every field.' },
  INVALID_FILTER: { status: 400, meaning: 'A filter or condition is invalid. Details name each place.' },
  FILTER_TOO_EXPENSIVE: { status: 400, meaning: 'No index covers this filter, and it would exceed its time limit.' },
  QUERY_TOO_SHORT: { status: 400, meaning: 'The search text has fewer than two letters or digits.' },
  ATTACHMENT_EMPTY: { status: 400, meaning: 'The file has no content.' },
  INVALID_IDEMPOTENCY_KEY: { status: 400, meaning: 'The Idempotency-Key is not 1 to 255 visible ASCII characters.' },
  CODE_NOT_REUSABLE: { status: 400, meaning: 'A rename of the configuration freed the code; it cannot be used again.' },
  INVALID_CURSOR: { status: 400, meaning: 'The text is not a cursor of the changes feed of this service.' },
  TRANSITION_NOT_AVAILABLE: {
    status: 400,
    meaning: 'The transition is unknown or does not start at the current state.',
  },
  TRANSITION_CONDITION_NOT_MET: { status: 400, meaning: 'The record does not meet the condition of the transition.' },
  UNAUTHENTICATED: { status: 401, meaning: 'The API key or session is missing or invalid.' },
  CSRF_TOKEN_INVALID: { status: 403, meaning: 'A write in a session has no CSRF token or a wrong one.' },
  SCOPE_MISSING: { status: 403, meaning: 'The key lacks the scope that `details` names.' },
  RIGHT_MISSING: { status: 403, meaning: 'The user lacks the right that `details` names.' },
  ROLE_ESCALATION: {
    status: 403,
    meaning: 'The change would grant access that the caller neither has nor may assign.',
  },
  FIELD_READ_ONLY: { status: 403, meaning: 'A field may be read but not written by the caller.' },
  NOT_FOUND: { status: 404, meaning: 'The item does not exist, or the caller may not read it.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The path exists, the method does not.' },
  REVISION_CONFLICT: { status: 409, meaning: 'expectedRevision is not the current revision.' },
  STATE_CONFLICT: { status: 409, meaning: 'expectedStateId is not the current state.' },
  ARCHIVED: { status: 409, meaning: 'The item is archived and cannot be changed.' },
  ALREADY_EXISTS: { status: 409, meaning: 'An item with this id, code or name already exists.' },
  RELATION_CARDINALITY: { status: 409, meaning: 'The relation definition allows no more relations here.' },
  RELATION_CYCLE: { status: 409, meaning: 'The relation would create a cycle.' },
  RELATION_REQUIRED_BY_FIELD: { status: 409, meaning: 'A field of the source still refers to the target.' },
  RULE_REFUSED: { status: 409, meaning: 'A rule that the change fired failed, and its failures refuse the change.' },
  RULE_LOOP: { status: 409, meaning: 'The change fires a chain of rules that is too long. Details name the chain.' },
  GROUP_CYCLE: { status: 409, meaning: 'The membership would create a cycle of groups.' },
  LAST_ADMINISTRATOR: {
    status: 409,
    meaning: 'The change would leave no user who has the right role.assign and can sign in or use a key.',
  },
  CONFIGURATION_CHANGED: {
    status: 409,
    meaning: 'The configuration is not the expected version. Details name the sections that changed since.',
  },
  CURSOR_REWOUND: {
    status: 409,
    meaning: 'Events up to this cursor were lost by a restore or a failover. Details name the cursor to resume from.',
  },
  ORG_UNIT_CONFLICT: { status: 409, meaning: 'The user is in another unit than expected.' },
  VALUES_WOULD_BE_LOST: {
    status: 409,
    meaning: 'The bundle removes fields, options or states without `discard`.',
  },
  STATE_IN_USE: { status: 409, meaning: 'The bundle removes a workflow state that records are in.' },
  NOT_A_DRAFT: { status: 409, meaning: 'Only a draft version can be changed.' },
  AUDIENCE_MISSING: { status: 409, meaning: 'The version has no audience yet.' },
  VERSION_TOKEN_STALE: { status: 409, meaning: 'The version token is not the current one.' },
  SLA_COMMAND_NOT_ALLOWED: { status: 409, meaning: 'The command does not fit the status of the SLA instance.' },
  CONNECTION_ENABLED: { status: 409, meaning: 'Disable the connection before changing it.' },
  CONNECTION_ARCHIVED: { status: 409, meaning: 'The connection is archived.' },
  INTEGRATION_DISABLED: { status: 409, meaning: 'The integration is disabled.' },
  IDEMPOTENCY_KEY_REUSED: { status: 409, meaning: 'The Idempotency-Key was used with another body.' },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, meaning: 'The first call with this Idempotency-Key is still running.' },
  RESULT_TOO_LARGE: { status: 400, meaning: 'The answer would take too much to compute.' },
  BODY_TOO_LARGE: {
    status: 413,
    meaning: 'The body is larger than 10 MiB, or than 16 KiB where no credential is needed.',
  },
  ATTACHMENT_TOO_LARGE: { status: 413, meaning: 'The file is larger than the configured limit.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not application/json in UTF-8.' },
  RANGE_NOT_SATISFIABLE: { status: 416, meaning: 'The requested range is outside of the file.' },
  RATE_LIMITED: {
    status: 429,
    meaning:
      'Too many requests with this key, or from this address without a valid key. Retry after the time in Retry-After.',
  },
  HEADERS_TOO_LARGE: { status: 431, meaning: 'The request line and headers are too large.' },
  INTERNAL: { status: 500, meaning: 'A defect of the service. The correlation id identifies the request in the log.' },
  OVERLOADED: { status: 503, meaning: 'The service is overloaded. Retry after the time in Retry-After.' },
  DATABASE_UNAVAILABLE: { status: 503, meaning: 'The database does not respond. Retry after the time in Retry-After.' },
} as const;

export type FaultCode = keyof typeof FAULTS;

/** Errors of every operation that changes records or their parts, because rules react to it. */
export const RULE_FAULTS = ['RULE_REFUSED', 'RULE_LOOP'] as const satisfies readonly FaultCode[];

export function statusOf(code: string): number | undefined {
  return Object.hasOwn(FAULTS, code) ? FAULTS[code as FaultCode].status : undefined;
}

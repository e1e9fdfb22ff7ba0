/** Content of the page of each `error.code` in addition to its meaning: cause, remedy and example details. */
import type { FaultDetails } from '../lib/fault.ts';
import { FAULTS, type FaultCode } from '../lib/fault-codes.ts';
import { problemAt } from '../lib/problem.ts';
import { failure } from './envelope.ts';

export interface FaultGuide {
  /** Why a caller gets the error. */
  cause: string;
  /** What the client or its user should do. */
  act: string;
  /** `error.details` of an example; an empty list if the code is sufficient. */
  details?: FaultDetails;
}

const READ_AGAIN =
  'Read the record again, decide on its current values, and send the new revision. Do not only replace the revision: that would overwrite the changes of others.';
const WAIT =
  'Wait for the time in `Retry-After`, then repeat the same request. Use growing, random delays for further attempts.';

export const FAULT_GUIDES: Readonly<Record<FaultCode, FaultGuide>> = {
  INVALID_REQUEST: {
    cause:
      'A body property or query parameter is unknown, missing, out of bounds or of the wrong JSON type. Unknown names are errors, so that a misspelt name is noticed. Values are not converted between types.',
    act: 'Correct every place in `details`. The API reference lists the parameters of each operation.',
    details: [problemAt('/expectedRevision', 'WRONG_TYPE', { expected: { phrase: 'INTEGER' } })],
  },
  INVALID_JSON: {
    cause:
      'The body is not JSON or not UTF-8, is nested more than 64 levels deep, or contains a duplicate key or the key `__proto__`.',
    act: 'Create bodies with a JSON library, not by concatenating text.',
    details: [],
  },
  INVALID_VALUES: {
    cause:
      'Field values are missing, have the wrong data type, violate a constraint, or belong to a field that the caller cannot access. A field that the caller may not read gives the same error as a field that does not exist.',
    act: 'Correct all places in `details`; they name every invalid field. `GET /metadata/types/{typeId}/fields` shows the constraints of each field.',
    details: [problemAt('/values/priority', 'VALUE_NOT_AN_OPTION')],
  },
  INVALID_FILTER: {
    cause:
      'A condition contains an unknown field, an operator that does not fit the data type, or a value of the wrong type; or a group is empty, too large or too deep; or a field is not filterable.',
    act: 'Correct the places in `details`. A field is filterable if the configuration has `search: {filter: true}` for it.',
    details: [problemAt('query.filter/conditions/0/field', 'CONDITION_FIELD_UNKNOWN')],
  },
  CODE_NOT_REUSABLE: {
    cause:
      'A bundle uses a code that an earlier rename freed, or one that it renames itself. History and exports would mean two things by it.',
    act: 'Use another code. The place is in `details`.',
    details: [problemAt('/types/0/fields/3/code', 'CODE_NOT_REUSABLE', { code: 'impact' })],
  },
  FILTER_TOO_EXPENSIVE: {
    cause: 'No index supports the filter, and it would have to read more records than the time limit allows.',
    act: 'Add a condition that selects fewer records (type, time or state). Or make the field filterable and wait until `docket doctor` reports no pending index.',
    details: [],
  },
  QUERY_TOO_SHORT: {
    cause: '`q` of a search has fewer than two letters or digits.',
    act: 'Use a longer `q`, or only a `filter`.',
    details: [],
  },
  ATTACHMENT_EMPTY: {
    cause: '`contentBase64` decodes to zero bytes.',
    act: 'Send a file with content. Empty files are not accepted.',
    details: [],
  },
  INVALID_IDEMPOTENCY_KEY: {
    cause:
      'The header `Idempotency-Key` is empty, longer than 255 characters, repeated, or contains characters other than visible ASCII.',
    act: 'Send a UUID.',
    details: [problemAt('header.Idempotency-Key', 'IDEMPOTENCY_KEY')],
  },
  INVALID_CURSOR: {
    cause: '`after` of the changes feed, or the header `Last-Event-ID`, is not a cursor that this service gave out.',
    act: 'Send a cursor exactly as it was received, `now`, or leave the parameter out to start from the beginning.',
    details: [],
  },
  TRANSITION_NOT_AVAILABLE: {
    cause:
      'The workflow of the record has no such transition, or the transition does not start from the current state.',
    act: 'Read `GET /objects/{objectId}/workflow`: it lists the available transitions with their ids.',
    details: [],
  },
  TRANSITION_CONDITION_NOT_MET: {
    cause: 'The record does not meet the condition of the transition.',
    act: 'Change the fields in `details` first. They are the fields of the condition that the caller may read.',
    details: [problemAt('/values/assignee', 'CONDITION_NOT_MET')],
  },
  UNAUTHENTICATED: {
    cause:
      'The key is missing, unknown, expired or revoked, is used from an address that is not allowed, or its owner is archived. All cases give the same answer, so that it does not reveal which one applies.',
    act: 'Send `Authorization: Bearer dk_…`. `docket keys list` shows the state of the key. An ended session gives `details: {"session": "ended"}`: sign in again.',
    details: [],
  },
  CSRF_TOKEN_INVALID: {
    cause: 'A write of a console session has no header `X-Docket-CSRF`, or the token of another session.',
    act: 'Send the `csrfToken` that the sign-in returned; `GET /session` returns it again. API keys need no token.',
    details: [],
  },
  SCOPE_MISSING: {
    cause: 'The key does not have the scope that the operation needs.',
    act: 'Issue a key with the scope in `details`. The owner needs the right as well.',
    details: { scope: 'objects:write' },
  },
  RIGHT_MISSING: {
    cause: 'No role of the key’s owner grants the right, in general or on this record.',
    act: 'Give the owner a role with the right in `details`. It takes effect within a second.',
    details: { right: 'update' },
  },
  ROLE_ESCALATION: {
    cause:
      'The change would give access that the caller does not have: a membership with roles, records or audiences; the password, e-mail address or external id of a user with more access; or the caller’s own login, e-mail address, external id or memberships.',
    act: 'Ask a user with the right `role.assign`, or with a role whose `memberships` contain the group or unit.',
    details: [],
  },
  FIELD_READ_ONLY: {
    cause: 'The caller may read the field on this record but not write it.',
    act: 'Remove the field from `values` or `changes`, or give the key’s owner a role that may write it.',
    details: [problemAt('/changes/priority', 'FIELD_READ_ONLY')],
  },
  NOT_FOUND: {
    cause: 'The path does not exist, or the caller may not see the item. Both give the same answer.',
    act: 'Check the id and the rights of the key’s owner.',
    details: [],
  },
  METHOD_NOT_ALLOWED: {
    cause: 'The path does not support this method.',
    act: 'Use one of the methods in the header `Allow`.',
    details: [],
  },
  RESULT_TOO_LARGE: {
    cause: 'The record has too many changes before the revision that was asked for.',
    act: 'Ask for an earlier revision, or read the history in pages.',
    details: [],
  },
  REVISION_CONFLICT: {
    cause: 'Another user changed the item after the caller read it.',
    act: `${READ_AGAIN} \`details.changedSince\` lists the changes of others that the caller may read. \`complete: false\` beside it says that older changes were left out.`,
    details: {
      changedSince: [
        {
          field: 'priority',
          at: '2026-11-21T09:15:00.000Z',
          actor: { id: '0197a3c2-5d8e-7c10-9f2b-6d1f1b0a7c55', displayName: 'Anna' },
        },
      ],
    },
  },
  STATE_CONFLICT: {
    cause:
      'The workflow state of the record is not `expectedStateId`, or the state of the item does not allow the operation, for example a retry of a delivery that has not failed.',
    act: `Read the workflow again, because other transitions are available now. ${READ_AGAIN}`,
    details: [],
  },
  ARCHIVED: {
    cause:
      'The record, comment, attachment, user or group is archived. It cannot be changed, and nothing can be added to it.',
    act: 'Ask an administrator to restore it (`POST /api/admin/v1/objects/{objectId}/restore`).',
    details: [],
  },
  ALREADY_EXISTS: {
    cause:
      'The id, code, login or e-mail address is in use, perhaps by an item that the caller cannot see, or by an earlier attempt of the same call.',
    act: 'Use another value for the field in `details`. After an attempt without an answer, check first whether it succeeded.',
    details: { field: 'login' },
  },
  RELATION_CARDINALITY: {
    cause: 'One of the two records already has a relation of this definition and may have only one.',
    act: 'Remove the existing relation first, or use a definition with another cardinality.',
    details: [],
  },
  RELATION_CYCLE: {
    cause: 'The definition does not allow cycles, and this relation would create one.',
    act: 'Use another target, or remove one of the relations that lead from the target to the source.',
    details: [],
  },
  RELATION_REQUIRED_BY_FIELD: {
    cause: 'A reference field of the source contains the target, and the definition protects such a relation.',
    act: 'Clear or change the field first, then remove the relation.',
    details: [],
  },
  RULE_REFUSED: {
    cause: 'A rule with `onError: refuse` reacted to the change, and one of its actions failed.',
    act: 'Ask an administrator to correct the rule in `details`, or change the record so that it does not fire.',
    details: { rule: 'network-to-network-team' },
  },
  RULE_LOOP: {
    cause:
      'Rules that fire each other, for example by creating records, reached 8 levels or 100 firings in one change.',
    act: 'Ask an administrator to correct one of the rules in `details`.',
    details: { rules: ['incident-to-problem', 'problem-to-incident'] },
  },
  GROUP_CYCLE: {
    cause: 'The group would become a direct or indirect member of itself.',
    act: 'Remove the other membership first.',
    details: [],
  },
  LAST_ADMINISTRATOR: {
    cause:
      'After the change, no active user with the right `role.assign` could authenticate: the last one would be archived, or lose the role, the membership that gives it, the last password or the last key. Users who only sign in by OpenID Connect count while it is configured.',
    act: 'Give the right to another user first, with a password or a key.',
    details: [],
  },
  CONFIGURATION_CHANGED: {
    cause:
      'Another apply or call changed the configuration after the version in `expected`. `details` has `{expected, version, sections}`.',
    act: 'Read what changed with `GET /config/diff?from=EXPECTED&to=VERSION`, plan again, and apply with the new version.',
    details: { expected: 41, version: 42, sections: ['roles'] },
  },
  CURSOR_REWOUND: {
    cause:
      'The service was restored from a backup, or failed over to a database that lacked the last commits. Events that were read before this cursor are not part of its history any more.',
    act: 'Drop what was read after the event `lastEventId`, then continue from `resume`. If it is null or was not read, drop everything and read from the beginning, without a cursor. `lostAfter` is the time of that event.',
    details: {
      resume: 'tY1v0w6cZc9w3m0fK0h4yC2b6R7q8s9t0u1v2w3x4y5z6A7B8C9D0E1F2G3H4I5J6K7L8M9N0O1P2Q3R4S5T6U7V8W9X0Y1Z2a',
      lostAfter: '2026-11-21T09:15:00.000Z',
      lastEventId: '0197a3c2-5d8e-7c10-9f2b-6d1f1b0a7c55',
    },
  },
  ORG_UNIT_CONFLICT: {
    cause: 'The user is in a unit, and `expectedOrganizationUnitId` is missing or is another unit.',
    act: 'Read the user again. To move the user, send the current unit as `expectedOrganizationUnitId`.',
    details: [],
  },
  VALUES_WOULD_BE_LOST: {
    cause:
      'A bundle has no longer a field, an option or a state, and no other one that was renamed from it. Each entry of `details` also has the number of `records` that hold it, which may be 0. `complete: false` says that only those were counted that the caller may read.',
    act: 'Rename it: give the new one `was` with the old code. Or confirm each `path` with `discard` (`--discard` on the command line).',
    details: [
      problemAt('types.incident.impact', 'VALUES_WOULD_BE_LOST', { path: 'types.incident.impact', records: 531 }),
    ],
  },
  STATE_IN_USE: {
    cause:
      'A bundle removes a state of a workflow that records are in. Each entry of `details` also has the number of `records`.',
    act: 'Move the records to other states first, or rename the state with `was`.',
    details: [
      problemAt('workflows.incident.waiting', 'STATE_IN_USE', { code: 'workflows.incident.waiting', records: 12 }),
    ],
  },
  NOT_A_DRAFT: {
    cause: 'The version is published or archived. Only drafts can be changed.',
    act: 'Create a new version: `POST /kb/articles` with the code of the article.',
    details: [],
  },
  AUDIENCE_MISSING: {
    cause: 'The version has no audience, so no user could read it.',
    act: 'Set an audience: `PUT /api/admin/v1/kb/article-versions/{versionId}/audiences`.',
    details: [],
  },
  VERSION_TOKEN_STALE: {
    cause: 'The article was changed after its token was read.',
    act: 'Read `GET /api/admin/v1/kb/articles/{articleId}/material` again, check the article, and send the new token.',
    details: [],
  },
  SLA_COMMAND_NOT_ALLOWED: {
    cause:
      'The status of the SLA instance does not allow the command. Only a running instance can be paused, only a paused one resumed, and a stopped one can only be recalculated.',
    act: 'Read the SLA instances of the record again.',
    details: [],
  },
  CONNECTION_ENABLED: {
    cause: 'The subscription or integration is enabled. It can be changed only while it is disabled.',
    act: 'Disable it, change it, and enable it again.',
    details: [],
  },
  CONNECTION_ARCHIVED: {
    cause: 'The subscription or integration is archived.',
    act: 'Restore it. It is disabled afterwards; enable it if needed.',
    details: [],
  },
  INTEGRATION_DISABLED: {
    cause: 'The integration is disabled and accepts no calls.',
    act: 'Enable it in the administration.',
    details: [],
  },
  IDEMPOTENCY_KEY_REUSED: {
    cause: 'The same `Idempotency-Key` was used with another body.',
    act: 'Use a new key for each change. Reuse a key only to repeat a call whose answer was lost.',
    details: [],
  },
  IDEMPOTENCY_IN_PROGRESS: {
    cause: 'The first call with this key is still running.',
    act: WAIT,
    details: [],
  },
  BODY_TOO_LARGE: {
    cause: 'The body is larger than 10 MiB, or than 16 KiB for an operation without credentials, such as a sign-in.',
    act: 'Send less data per call. `docket import` imports files of any size.',
    details: [],
  },
  ATTACHMENT_TOO_LARGE: {
    cause: 'The file is larger than the setting `attachmentMaxBytes`.',
    act: 'Send a smaller file, or increase the setting. A body of 10 MiB holds a file of about 7 MiB in base64.',
    details: [],
  },
  UNSUPPORTED_MEDIA_TYPE: {
    cause: 'The body is not declared as JSON.',
    act: 'Send `Content-Type: application/json`.',
    details: [],
  },
  RANGE_NOT_SATISFIABLE: {
    cause:
      'The range in the header `Range` starts after the end of the file. `Content-Range` gives the size of the file.',
    act: 'Request a range within the file, or omit `Range`. If you already have that many bytes, the download is complete.',
    details: [],
  },
  RATE_LIMITED: {
    cause:
      'The key has used its requests of this minute; the header `RateLimit` of every answer gives the remaining number. Or this caller has 8 open event streams or 64 waiting requests in this process; the message says so, and those that are open go on. Without a valid key or session: the address has used its requests, or must wait before the next sign-in.',
    act: WAIT,
    details: [],
  },
  HEADERS_TOO_LARGE: {
    cause: 'The request line and headers are larger than 16 KiB.',
    act: 'Shorten the query or remove headers.',
    details: [],
  },
  INTERNAL: {
    cause: 'An error in the service.',
    act: 'Report the correlation id to the operator, who finds the request in the log by it. Calls with an idempotency key can be repeated.',
    details: [],
  },
  OVERLOADED: {
    cause: 'The service cannot accept more work now. The request was not executed.',
    act: WAIT,
    details: [],
  },
  DATABASE_UNAVAILABLE: {
    cause: 'The database does not answer or is restarting. It is unknown whether the change was made.',
    act: `${WAIT} A change with an idempotency key or an expected revision is made at most once.`,
    details: [],
  },
};

/** The whole response body of the example. */
export function exampleOf(code: FaultCode): string {
  const { details = [] } = FAULT_GUIDES[code];
  const body = failure(code, { message: FAULTS[code].meaning }, details, '0197a3c2-5d8e-7c10-9f2b-6d1f1b0a7c55');
  return JSON.stringify(JSON.parse(body), null, 2);
}

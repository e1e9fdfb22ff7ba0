/** Content of the page of each `error.code` in addition to its meaning: cause, remedy and example details. */
import { FAULTS, type FaultCode } from '../lib/fault-codes.ts';

export interface FaultGuide {
  /** Why a caller gets the error. */
  cause: string;
  /** What the client or its user should do. */
  act: string;
  /** `error.details` of an example; an empty list if the code is sufficient. */
  details?: unknown;
}

const place = (path: string, code: string, message: string): unknown => [{ path, code, message }];
const READ_AGAIN =
  'Read the record again, decide on its current values, and send the new revision. Do not only replace the revision: that would overwrite the changes of others.';
const WAIT =
  'Wait as long as `Retry-After` says, with growing and random delays after that, and send the same request again.';

export const FAULT_GUIDES: Readonly<Record<FaultCode, FaultGuide>> = {
  INVALID_REQUEST: {
    cause:
      'A body property or query parameter is misspelt, missing, of another JSON type or out of bounds. Unknown names are errors too, so that a misspelt one never passes in silence; no value is converted from another type.',
    act: 'Correct every place that `details` names; the API reference lists what the operation takes.',
    details: place('/expectedRevision', 'WRONG_TYPE', 'Send an integer.'),
  },
  INVALID_JSON: {
    cause: 'The body is no JSON, not UTF-8, nested deeper than 64, or names a key twice or `__proto__`.',
    act: 'Write bodies with a JSON library, not by joining texts.',
    details: [],
  },
  INVALID_VALUES: {
    cause:
      'Values of fields are missing, of the wrong data type, beyond a constraint, or of a field that is not there for the caller. A field that the caller may not read and one that was never configured give the same words.',
    act: 'Correct all the places at once: every wrong field is named. `GET /metadata/types/{typeId}/fields` shows what a field takes.',
    details: place('/values/priority', 'NOT_ALLOWED', 'Use "p1" or "p2".'),
  },
  INVALID_FILTER: {
    cause:
      'A condition names an unknown field, an operator that does not fit its data type, or a value of the wrong type; a group is empty, too large or too deep; or a field is not marked as filterable.',
    act: 'Correct the places named. Fields can be filtered by once the configuration marks them with `search: {filter: true}`.',
    details: place('query.filter/conditions/0/operator', 'NOT_ALLOWED', 'Use another operator.'),
  },
  FILTER_TOO_EXPENSIVE: {
    cause: 'The filter asks something that no index serves, of more records than can be looked through in its time.',
    act: 'Add a condition that narrows it down (a type, a time, a state), or mark the field as filterable and wait until `docket doctor` shows no pending index.',
    details: [],
  },
  QUERY_TOO_SHORT: {
    cause: '`q` of a search has fewer than two letters or digits.',
    act: 'Ask with more letters, or with a `filter` alone.',
    details: [],
  },
  ATTACHMENT_EMPTY: {
    cause: '`contentBase64` stands for no bytes.',
    act: 'Send the file; an empty one has no place here.',
    details: [],
  },
  INVALID_IDEMPOTENCY_KEY: {
    cause: 'The header `Idempotency-Key` is empty, longer than 255 characters, or has others than visible ASCII.',
    act: 'Send a UUID.',
    details: place('header.Idempotency-Key', 'WRONG_FORMAT', 'Send 1 to 255 visible ASCII characters.'),
  },
  TRANSITION_NOT_AVAILABLE: {
    cause: 'The transition does not exist in the workflow of the record, or does not leave its present state.',
    act: '`GET /objects/{objectId}/workflow` lists the transitions that are open now, with their ids.',
    details: [],
  },
  TRANSITION_CONDITION_NOT_MET: {
    cause: 'The workflow puts a condition on the transition that does not hold on the record.',
    act: '`details` names those of the condition’s fields that the caller may read: change them first.',
    details: place('/assignee', 'CONDITION', 'The condition of the transition asks for another value.'),
  },
  UNAUTHENTICATED: {
    cause:
      'The key is absent, mistyped, unknown, expired, revoked, used from another address than allowed, or its owner is archived: one answer for all, so that nobody learns which.',
    act: 'Send `Authorization: Bearer dk_…`. `docket keys list` shows the state of the key. A session that has ended is answered with `details: {"session": "ended"}`: sign in again.',
    details: [],
  },
  CSRF_TOKEN_INVALID: {
    cause: 'A write of a console session came without the header `X-Docket-CSRF`, or with a token of another session.',
    act: 'Send the `csrfToken` that the sign-in returned; `GET /session` returns it again. API keys need no token.',
    details: [],
  },
  SCOPE_MISSING: {
    cause: 'The key was issued without the scope that the operation needs.',
    act: 'Issue a key with the scope that `details` names. A scope never replaces a right of the owner.',
    details: { scope: 'objects:write' },
  },
  RIGHT_MISSING: {
    cause: 'The owner of the key holds no role that grants the right on this record, or at all.',
    act: 'Give the owner a role with the right that `details` names; it holds from the next request on.',
    details: { right: 'update' },
  },
  ROLE_ESCALATION: {
    cause:
      'The change would hand on access that the caller does not have: a membership that gives roles, records or audiences; the password, e-mail address or external id of a user who is given more than the caller; or the caller’s own login, e-mail address, external id or memberships.',
    act: 'Let somebody do it who holds the right `role.assign`, or a role whose `memberships` name the group or unit.',
    details: [],
  },
  FIELD_READ_ONLY: {
    cause: 'The caller may read the field and not write it, on this record.',
    act: 'Leave the field out of `values` or `changes`, or give the owner of the key a role that writes it.',
    details: place('/changes/priority', 'READ_ONLY', 'This field cannot be written.'),
  },
  NOT_FOUND: {
    cause: 'There is nothing at this path, or nothing that the caller may see: the two are never told apart.',
    act: 'Check the id, and the rights of the key’s owner.',
    details: [],
  },
  METHOD_NOT_ALLOWED: {
    cause: 'The path exists; its methods are in the header `Allow`.',
    act: 'Use one of those.',
    details: [],
  },
  REVISION_CONFLICT: {
    cause: 'Somebody changed the item after the caller read it.',
    act: `${READ_AGAIN} \`details.changedSince\` tells what others changed, as far as the caller may read it.`,
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
      'The record is in another workflow state than `expectedStateId`, or a delivery is in a state that admits no retry.',
    act: `Read the workflow again: other transitions are open now. ${READ_AGAIN}`,
    details: [],
  },
  ARCHIVED: {
    cause: 'The record, comment, file, person or group is archived and takes no change, and nothing new around it.',
    act: 'An administrator can restore it (`POST /api/admin/v1/objects/{id}/restore`).',
    details: [],
  },
  ALREADY_EXISTS: {
    cause:
      'The id, code, login or e-mail is taken, perhaps by something that the caller cannot see, or by an earlier try of the same call.',
    act: 'Choose another value for the field that `details` names; after a try without an answer, look first whether it was your own.',
    details: { field: 'login' },
  },
  RELATION_CARDINALITY: {
    cause: 'One of the two records has a relation of this definition already, and may have only one.',
    act: 'Remove the present relation first, or use a definition with another cardinality.',
    details: [],
  },
  RELATION_CYCLE: {
    cause: 'The definition forbids rings, and this relation would close one.',
    act: 'Follow the relations from the target: they lead to the source.',
    details: [],
  },
  RELATION_REQUIRED_BY_FIELD: {
    cause: 'A reference field of the source holds the target, and the definition binds the relation to that field.',
    act: 'Change the field first; the relation can go then.',
    details: [],
  },
  GROUP_CYCLE: {
    cause: 'The group would become a member of itself, through others.',
    act: 'Take the other membership away first.',
    details: [],
  },
  LAST_ADMINISTRATOR: {
    cause:
      'After the change no active user with the right `role.assign` could sign in or use a key: the last one would be archived, or lose the role, the membership that gives it, the last password or the last key. Users who can sign in by OpenID Connect alone count while it is configured.',
    act: 'Give the right to somebody else first, with a password or a key.',
    details: [],
  },
  ORG_UNIT_CONFLICT: {
    cause: 'The person is in a unit, and `expectedOrganizationUnitId` is missing or is not that unit.',
    act: 'Read the list of people again and decide; to move a person, name the unit that they are in now.',
    details: [],
  },
  NOT_A_DRAFT: {
    cause: 'Only drafts of articles can be changed; this version is published or archived.',
    act: 'Create a new version: `POST /kb/articles` with the code of the article.',
    details: [],
  },
  AUDIENCE_MISSING: {
    cause: 'The version has no audience, so that publishing it would show it to nobody.',
    act: 'Set one: `PUT /api/admin/v1/kb/article-versions/{versionId}/audiences`.',
    details: [],
  },
  VERSION_TOKEN_STALE: {
    cause: 'The article changed after its token was read.',
    act: 'Read `GET /api/admin/v1/kb/articles/{articleId}/material` again and confirm what it shows.',
    details: [],
  },
  SLA_COMMAND_NOT_ALLOWED: {
    cause:
      'The instance is not in a status that the command leaves: only a running one is paused, only a paused one resumed, a stopped one stays so.',
    act: 'Read the instances of the record again.',
    details: [],
  },
  CONNECTION_ENABLED: {
    cause: 'A subscription or integration is changed only while it is disabled.',
    act: 'Disable it, change it, enable it.',
    details: [],
  },
  CONNECTION_ARCHIVED: {
    cause: 'The subscription or integration is archived.',
    act: 'Restore it; it stays disabled until it is enabled.',
    details: [],
  },
  INTEGRATION_DISABLED: {
    cause: 'The integration exists and takes no calls.',
    act: 'Enable it in the administration.',
    details: [],
  },
  IDEMPOTENCY_KEY_REUSED: {
    cause: 'The same `Idempotency-Key` came with another body.',
    act: 'Use a new key for each change that you mean to make; the same only to repeat a call whose answer was lost.',
    details: [],
  },
  IDEMPOTENCY_IN_PROGRESS: { cause: 'The first call with this key is still running.', act: WAIT, details: [] },
  BODY_TOO_LARGE: {
    cause: 'The body is larger than 10 MiB. Operations that need no credential, such as a sign-in, take 16 KiB.',
    act: 'Send less at once; for files of any size there is `docket import`.',
    details: [],
  },
  ATTACHMENT_TOO_LARGE: {
    cause: 'The file is larger than the setting `attachmentMaxBytes`.',
    act: 'Send a smaller file, or raise the setting: base64 in 10 MiB of JSON carries about 7 MiB.',
    details: [],
  },
  UNSUPPORTED_MEDIA_TYPE: {
    cause: 'The body is not declared as JSON.',
    act: 'Send `Content-Type: application/json`.',
    details: [],
  },
  RANGE_NOT_SATISFIABLE: {
    cause: 'The header `Range` begins behind the end of the file; `Content-Range` tells how many bytes it has.',
    act: 'Ask for a range inside of it, or leave `Range` out. Whoever has that many bytes has them all.',
    details: [],
  },
  RATE_LIMITED: {
    cause:
      'The key used up its requests of this minute; `RateLimit` tells on every answer how many are left. Without a valid key or session: the address used up its requests, or must wait before the next attempt to sign in.',
    act: WAIT,
    details: [],
  },
  HEADERS_TOO_LARGE: {
    cause: 'The request line with its headers is larger than 16 KiB.',
    act: 'Shorten the query, or drop headers.',
    details: [],
  },
  INTERNAL: {
    cause: 'A defect of the service.',
    act: 'Tell the operator the correlation id: it finds the request in the log. A call with an idempotency key may be repeated.',
    details: [],
  },
  OVERLOADED: {
    cause:
      'The service has more work than it can do, and refuses before it slows everybody down. Nothing was done of this request.',
    act: WAIT,
    details: [],
  },
  DATABASE_UNAVAILABLE: {
    cause: 'The database is away or restarting. Whether a change was made is not known.',
    act: `${WAIT} A change that bears an idempotency key or an expected revision happens once.`,
    details: [],
  },
};

/** The whole response body of the example. */
export function exampleOf(code: FaultCode): string {
  const { details = [] } = FAULT_GUIDES[code];
  const error = { code, message: FAULTS[code].meaning, details };
  const meta = { correlationId: '0197a3c2-5d8e-7c10-9f2b-6d1f1b0a7c55', apiVersion: 'v1' };
  return JSON.stringify({ error, meta }, null, 2);
}

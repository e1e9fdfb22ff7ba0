/**
 * Causes of the faults whose code covers several: reason → code of the fault and English text (see `problem.ts`). The other
 * faults have their code as reason.
 */
export const FAULT_PROBLEMS = {
  // Requests.
  PROBLEMS_IN_DETAILS: ['INVALID_REQUEST', 'The request is invalid. Correct each problem in details.'],
  REQUEST_PROBLEMS: ['INVALID_REQUEST', 'The request has {count} problems. Correct each of them in details.'],
  ITEM_PROBLEMS: ['INVALID_REQUEST', 'The item has several problems. Correct each one in details.'],
  BUNDLE_PROBLEMS: ['INVALID_REQUEST', 'The bundle has {count} problems. Nothing was changed.'],
  TEXT_CANNOT_BE_STORED: ['INVALID_REQUEST', 'A text contains a character that cannot be stored. Remove it.'],
  FORMAT_OF_A_VALUE: ['INVALID_REQUEST', 'A value has the wrong format. Check it against the API documentation.'],
  NUMBER_OUT_OF_RANGE: ['INVALID_REQUEST', 'A number is too large or too small. Use one in the documented range.'],
  TIME_OUT_OF_RANGE: ['INVALID_REQUEST', 'A date or time is out of range. Use one in the documented range.'],
  VALUE_TOO_LARGE_TO_STORE: ['INVALID_REQUEST', 'A value is too large to be stored or indexed. Shorten it.'],
  REQUEST_TOO_COMPLEX: ['INVALID_REQUEST', 'The request is nested too deep or too complex. Simplify it.'],
  REFERS_TO_MISSING: [
    'INVALID_REQUEST',
    'The change refers to an item that does not exist, or removes one that is in use.',
  ],
  REFUSAL_SYNTAX: [
    'INVALID_REQUEST',
    'The text "{text}" is not a comparison. Write one of {names}, then >, >= or ==, then an integer, joined by &&.',
  ],
  USER_OR_KEY: ['INVALID_REQUEST', 'Name either user or keyId.'],
  NOT_EXPLAINED: ['INVALID_REQUEST', 'The operation {operation} cannot be explained: it cannot be dry-run.'],
  NO_FILES: [
    'INVALID_REQUEST',
    'The request has no files. Send at least one in `files`, or `archive` without `prune`.',
  ],
  NO_SECTIONS: [
    'INVALID_REQUEST',
    'No file has a section. Add one, such as "types:", to the `text` of a file; "types: []" for one without items.',
  ],
  PRUNE_OF_PART: [
    'INVALID_REQUEST',
    'The bundle does not name {sections}; pruning would archive {count} items there. Send the whole bundle, or write "{first}: []" for a section that is to be empty.',
  ],
  ARCHIVED_ELSEWHERE: [
    'INVALID_REQUEST',
    '{item} cannot be archived here. Remove it from the files, or archive it through its own endpoint.',
  ],
  PASSWORD_LENGTH: ['INVALID_REQUEST', 'The password is too short or too long. Use {min} to {max} characters.'],
  MERGE_WITHOUT_RELATION: [
    'INVALID_REQUEST',
    'Records of this type cannot be merged: no relation definition "{code}".',
  ],

  // Rights.
  RIGHT_OF_ROLE_MISSING: [
    'RIGHT_MISSING',
    'You lack the right "{right}". Ask an administrator for a role that grants it.',
  ],
  FIELD_NOT_READABLE: [
    'RIGHT_MISSING',
    '{path} depends on the field {field} of the type {type}, which you cannot read on every record. Ask a user with the right role.assign to apply it.',
  ],
  WEBHOOK_OF_OTHER_USER: ['RIGHT_MISSING', 'The rule and its webhook have different users. Give both the same one.'],
  CREATE_NOT_ALLOWED: ['RIGHT_MISSING', 'You lack the right "create" for such a record. Ask an administrator.'],
  ACTION_NOT_ALLOWED: ['RIGHT_MISSING', 'You lack the right "{action}" on this record. Ask an administrator.'],
  TRANSITION_NOT_ALLOWED: [
    'RIGHT_MISSING',
    'You lack the right to make the transition "{transition}" on this record. Ask an administrator.',
  ],
  OWN_MEMBERSHIP: [
    'ROLE_ESCALATION',
    'You cannot make yourself a member of a group. Ask a user with the right role.assign.',
  ],
  ROLES_OF_GROUP: [
    'ROLE_ESCALATION',
    'Members of this group have roles that you do not have. Ask a user with the right role.assign.',
  ],
  RECORDS_OF_GROUP: [
    'ROLE_ESCALATION',
    'The membership gives access to records of this group, and you are not a member. Ask a user with the right role.assign.',
  ],
  RECORDS_OF_UNIT: [
    'ROLE_ESCALATION',
    'The membership gives access to records of this unit, and you do not belong to it. Ask a user with the right role.assign.',
  ],
  PARENT_GIVES_RECORDS: [
    'ROLE_ESCALATION',
    'The parent gives users of the units above access to records of this unit, and you do not belong to it. Ask a user with the right role.assign.',
  ],
  ACCESS_OF_USER: [
    'ROLE_ESCALATION',
    'This user has roles or access to records that you do not have. Ask a user with the right role.assign.',
  ],
  HIDDEN_AUDIENCE: [
    'ROLE_ESCALATION',
    'The membership gives access to services, catalogue items or articles that you cannot see. Ask a user with the right role.assign.',
  ],
  OWN_LOGIN: [
    'ROLE_ESCALATION',
    'You cannot change your own login, email address, external id or memberships. Ask a user with the right role.assign.',
  ],

  // States.
  NOT_ARCHIVED: ['STATE_CONFLICT', 'The item is not archived.'],
  DRY_RUN_GAVE_WAY: ['OVERLOADED', 'Other changes wait for records of this dry run. Retry later or ask for less.'],
  DRY_RUN_UNDONE: ['STATE_CONFLICT', 'A dry run changed nothing, so it cannot be undone.'],
  RUN_IN_PROGRESS: ['STATE_CONFLICT', 'The run is still in progress. Undo it after it has finished.'],
  DELIVERY_NOT_FAILED: ['STATE_CONFLICT', 'The delivery has not failed. Only a failed delivery can be retried.'],
  MAIL_WAITS: ['STATE_CONFLICT', 'The email waits to be sent. It is retried automatically.'],
  SUBSCRIPTION_DISABLED: ['STATE_CONFLICT', 'The subscription is disabled. Enable it first.'],
  OTHER_STATE: ['STATE_CONFLICT', 'The record is in another state than expectedStateId. Read its workflow again.'],
  KEY_REVOKED: ['ARCHIVED', 'The key is revoked. Issue a new one.'],
  USER_ARCHIVED: ['ARCHIVED', 'The user is archived. Restore the user first.'],
  SECRET_ARCHIVED: ['ARCHIVED', 'The signing secret is archived. Add it to the bundle to restore it.'],

  // Existing items.
  ANYTHING_TAKEN: ['ALREADY_EXISTS', 'An item with this id, code or name already exists. Use another one.'],
  ID_TAKEN: ['ALREADY_EXISTS', 'This id already exists. Use another one.'],
  CODE_TAKEN: ['ALREADY_EXISTS', 'Another item, possibly an archived one, already has this code. Use another code.'],
  ITEM_EXISTS: ['ALREADY_EXISTS', 'The {property} {code} already exists. Use another one.'],
  LOGIN_IN_USE: [
    'ALREADY_EXISTS',
    'A user, possibly archived, already has this login in upper or lower case. Use another login.',
  ],
  EMAIL_IN_USE: ['ALREADY_EXISTS', 'A user, possibly archived, already has this email address. Use another address.'],
  EXTERNAL_ID_IN_USE: ['ALREADY_EXISTS', 'A user, possibly archived, already has this external id. Use another one.'],
  DRAFT_EXISTS: [
    'ALREADY_EXISTS',
    'The article already has a draft in this locale. Change, publish or archive that draft.',
  ],
  SIGNING_SECRET_SET: ['STATE_CONFLICT', 'A webhook signs with this secret. Rotate it instead of setting it.'],
  SECRET_HAS_VALUE: ['ALREADY_EXISTS', 'This signing secret already has a value. Rotate it to replace the value.'],

  // Missing items.
  TYPE_OF_IMPORT_GONE: ['NOT_FOUND', 'The record type of this import no longer exists. Change the definition.'],
  EXTERNAL_ID_OF_OTHER_TYPE: ['NOT_FOUND', 'The external id belongs to a record of another type than {type}.'],
  EXTERNAL_ID_GONE: ['NOT_FOUND', 'The user, group or unit with this external id no longer exists.'],
  DEFINITION_OF_RUN_GONE: ['NOT_FOUND', 'The definition of this run no longer exists.'],
} as const;

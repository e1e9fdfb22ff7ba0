/** Which part owns each table, and who else reads or writes it and why (docs/architecture.md). */
export interface Ownership {
  owner: string;
  /** Other modules that read or write the table, and the reason. */
  reads?: Readonly<Record<string, string>>;
  writes?: Readonly<Record<string, string>>;
}

const NAMES = 'names of people beside what they did, in the same statement';
const RIGHTS = 'rights are made of people, groups and units in one statement';
const CODES = 'a call names people by id, a configuration item by login and code';
const SEARCHED = 'rights, order and filters are part of the statement that finds, before every limit';
const EXISTENCE = 'a value that names somebody is checked in one statement';

export const TABLES: Readonly<Record<string, Ownership>> = {
  cache_versions: { owner: 'platform' },
  rate_budgets: { owner: 'platform' },
  config_items: {
    owner: 'configuration',
    reads: {
      platform: 'the snapshot of the configuration is read in one statement',
      webhooks: 'a sender is read with its secret in one statement, as it stands at that moment',
      access: 'whether somebody can still assign roles is asked of the roles as the change leaves them',
    },
  },
  config_ids: {
    owner: 'configuration',
    reads: { platform: 'the snapshot of the configuration is read in one statement' },
  },
  type_versions: {
    owner: 'configuration',
    reads: { platform: 'the snapshot of the configuration is read in one statement' },
  },
  users: {
    owner: 'identity',
    reads: {
      access: RIGHTS,
      objects: EXISTENCE,
      knowledge: `${NAMES}; ${EXISTENCE}`,
      sla: NAMES,
      reports: "the caller's time zone is read with the state of the facts in one statement",
      platform: NAMES,
      webhooks: CODES,
      search: 'people are found by their names, groups and units with them',
    },
    writes: { access: 'the password is a column of the person' },
  },
  groups: {
    owner: 'identity',
    reads: { access: RIGHTS, objects: EXISTENCE, knowledge: EXISTENCE, webhooks: CODES, search: 'as people' },
  },
  org_units: {
    owner: 'identity',
    reads: { access: RIGHTS, objects: EXISTENCE, knowledge: EXISTENCE, webhooks: CODES, search: 'as people' },
  },
  group_members: { owner: 'identity', reads: { access: RIGHTS } },
  org_members: { owner: 'identity', reads: { access: RIGHTS } },
  role_assignments: {
    owner: 'access',
    reads: { identity: 'whether a membership hands a role on is decided in one statement' },
  },
  api_keys: { owner: 'access' },
  sessions: { owner: 'access' },
  sign_in_attempts: { owner: 'access' },
  sign_in_origins: { owner: 'access' },
  objects: {
    owner: 'objects',
    reads: {
      search: SEARCHED,
      desk: SEARCHED,
      webhooks: 'an event is dispatched by the type of its record, a thousand in one statement',
      reports: 'rights, filter and groups are part of the statement that counts',
    },
  },
  external_ids: { owner: 'imports' },
  import_runs: { owner: 'imports' },
  import_rows: { owner: 'imports' },
  comments: {
    owner: 'comments',
    reads: {
      search: 'the projection is made anew of what is stored',
      reports: 'a rebuild of the facts finds the authors of replies',
    },
  },
  relations: { owner: 'relations' },
  search_records: { owner: 'search' },
  search_comments: { owner: 'search' },
  search_articles: { owner: 'search' },
  search_words: { owner: 'search' },
  search_pending_words: { owner: 'search' },
  search_rebuild: { owner: 'search' },
  inline_images: { owner: 'objects' },
  blobs: { owner: 'platform' },
  attachments: { owner: 'attachments' },
  kb_articles: { owner: 'knowledge' },
  kb_versions: { owner: 'knowledge' },
  kb_images: { owner: 'knowledge' },
  calendar_versions: { owner: 'sla' },
  sla_instances: { owner: 'sla' },
  inbound_runs: { owner: 'inbound' },
  desk_queues: { owner: 'desk' },
  report_facts: { owner: 'reports' },
  report_rebuild: { owner: 'reports' },
  journal: {
    owner: 'platform',
    reads: {
      objects: 'the history of a record is its rows of the journal',
      comments: 'what changed since a revision is told by the rows of the comment',
      webhooks: 'what an event names travels with its deliveries, in the transaction that takes it out of the outbox',
      sla: 'the history of an instance is its events',
      attachments: 'docket doctor holds a file against its events',
      relations: 'docket doctor holds a relation against its events',
      reports: 'a rebuild computes the facts of a record from its history',
    },
  },
  journal_seals: { owner: 'platform' },
  journal_sealing: { owner: 'platform' },
  master_key: { owner: 'platform' },
  audit_heads: { owner: 'platform' },
  outbox: { owner: 'platform' },
  idempotency: { owner: 'platform' },
  signing_secret_values: { owner: 'webhooks' },
  webhook_periods: { owner: 'webhooks' },
  webhook_deliveries: { owner: 'webhooks' },
  webhook_attempts: { owner: 'webhooks' },
};

-- The schema of the first release. Works on PostgreSQL 15 to 18.
--
-- Conventions:
--   * Frequently written tables (objects, journal, outbox, idempotency, …) have no foreign keys: each would lock a parent row per
--     write, and the rows that they refer to are archived, never deleted.
--   * `only_row` limits a table to one row.
--   * `revision` is the number that callers send as expectedRevision; each visible change increments it.
--   * Names ending in `_key` hold the normal form of a name (NFKC, case folded), in which it must be unique.

-- ================================================================ Platform

-- Version counters of what processes keep in memory. Each change of rights or configuration increments a counter in its own
-- transaction. Processes poll the row and drop their caches when a counter has changed. A membership that gives no role changes the
-- rights of one user only. memberships: how many of the rights versions are such memberships; recent_members: the users of the latest
-- of them, newest last.
CREATE TABLE cache_versions (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  config bigint NOT NULL DEFAULT 1,
  rights bigint NOT NULL DEFAULT 1,
  memberships bigint NOT NULL DEFAULT 0,
  recent_members uuid[] NOT NULL DEFAULT '{}'
);
INSERT INTO cache_versions DEFAULT VALUES;

-- The audit log: one append-only row per event. The history of a record is the rows with its object_id.
-- seq: drawn while the transaction holds the rows that it changes, so it rises with the revisions of a record, whatever the clocks
-- of the processes say. txid and hash: used to seal committed rows (see journal_seals) without serialising writers. fields: names in
-- changes. Reads of a record's past need the names of all changes, and the values of few.
CREATE TABLE journal (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL,
  txid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  at timestamptz(3) NOT NULL,
  type text NOT NULL,
  object_id uuid,
  subject text,
  revision integer,
  actor_id uuid,
  via text NOT NULL,
  key_id uuid,
  correlation_id text,
  changes jsonb,
  data jsonb,
  hash bytea NOT NULL,
  fields text[]
);
CREATE INDEX journal_object ON journal (object_id, seq) WHERE object_id IS NOT NULL;
CREATE INDEX journal_audit ON journal (seq) WHERE object_id IS NULL;
-- The order in which rows are sealed. No row can appear below the oldest running transaction.
CREATE INDEX journal_sealed ON journal (txid, seq);

-- Seals over the journal: a hash chain. The hash of a seal covers the previous seal and the seq and hash of each of its rows.
-- hash_prefixes: the first 8 bytes of each row's hash, which identify the row that was replaced or moved.
CREATE TABLE journal_seals (
  number bigint PRIMARY KEY CHECK (number > 0),
  sealed_at timestamptz(3) NOT NULL,
  seqs bigint[] NOT NULL,
  hash_prefixes bytea NOT NULL,
  hash bytea NOT NULL
);

-- Progress of sealing: rows up to (txid, seq) are sealed. The process that seals locks this row.
CREATE TABLE journal_sealing (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  txid xid8 NOT NULL DEFAULT '0',
  seq bigint NOT NULL DEFAULT 0,
  number bigint NOT NULL DEFAULT 0,
  hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex')
);
INSERT INTO journal_sealing DEFAULT VALUES;

-- The newest seal that was copied to each destination outside the database (setting DOCKET_AUDIT_HEADS).
CREATE TABLE audit_heads (
  destination text PRIMARY KEY,
  number bigint NOT NULL
);

-- Places of journal rows in the changes feed. A place is given after the row's transaction has committed, by one writer at a
-- time, without gaps. A reader that keeps its last place therefore misses no row, however late it was committed.
CREATE TABLE journal_places (
  place bigint PRIMARY KEY CHECK (place > 0),
  seq bigint NOT NULL UNIQUE
);

-- Progress of giving places. The process that gives them locks this row.
CREATE TABLE journal_placing (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- The last place that was given.
  place bigint NOT NULL DEFAULT 0,
  -- All rows visible in this snapshot have places; null: it is unknown which rows have.
  done pg_snapshot,
  -- The snapshot whose rows are being given places in batches, and the last row that got one; null between passes.
  target pg_snapshot,
  target_seq bigint NOT NULL DEFAULT 0,
  -- The database and the run of its server at the last look. Another one begins a new epoch.
  storage text,
  run text,
  -- Encrypts the cursors of the feed.
  cursor_key bytea NOT NULL DEFAULT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);
INSERT INTO journal_placing DEFAULT VALUES;

-- Epochs of the places. Whatever may lose committed rows (a restore, a failover, a crash of a server without durability) begins
-- one. Places up to `after` are the same in the epoch before.
CREATE TABLE journal_epochs (
  number integer PRIMARY KEY CHECK (number > 0),
  id bigint NOT NULL UNIQUE,
  after bigint NOT NULL,
  began_at timestamptz(3) NOT NULL
);

-- Events that are not dispatched yet. journal_seq: the seq of the event in the journal.
CREATE TABLE outbox (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id uuid NOT NULL,
  type text NOT NULL,
  object_id uuid,
  at timestamptz(3) NOT NULL,
  journal_seq bigint NOT NULL
);

-- Stored responses of requests with an Idempotency-Key. returned: members of the response that only the database knows, such as
-- the number of a new record; they are merged into the stored answer.
CREATE TABLE idempotency (
  caller_id uuid NOT NULL,
  route text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  status smallint NOT NULL,
  answer text NOT NULL,
  returned jsonb,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (caller_id, route, key)
);
CREATE INDEX idempotency_age ON idempotency USING brin (created_at);

-- Contents in the blob store, by SHA-256. touched_at is set before content is written. Cleanup deletes the row first and the
-- content afterwards, so it never removes content that is about to be referenced.
CREATE TABLE blobs (
  sha256 text PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  touched_at timestamptz(3) NOT NULL
);

-- Request budgets that the processes share, per caller. Unlogged: after a crash every budget is full again.
-- full_at: when the budget is full again, in milliseconds of the database clock since 1970. The other columns describe the last
-- settlement: its time, the number of requests that it reported, requested and was granted.
CREATE UNLOGGED TABLE rate_budgets (
  caller_id text PRIMARY KEY,
  full_at double precision NOT NULL,
  at double precision NOT NULL,
  spent integer NOT NULL,
  returned integer NOT NULL,
  spent_until double precision,
  wanted integer NOT NULL,
  granted integer NOT NULL
) WITH (fillfactor = 50);

-- Identifies the master key that seals the secrets of this database. The fingerprint is derived from the key and does not reveal
-- it. No row: nothing was sealed yet.
CREATE TABLE master_key (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  fingerprint bytea NOT NULL
);

-- Raises SQLSTATE DK001 if the values differ. A conditional write calls this in its final SELECT: if a concurrent transaction
-- committed first, the whole statement is rolled back and the unit of work retries.
CREATE FUNCTION docket_require(guard text, actual bigint, expected bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF actual IS DISTINCT FROM expected THEN
    RAISE EXCEPTION 'guard % not met', guard USING ERRCODE = 'DK001', DETAIL = guard;
  END IF;
  RETURN true;
END
$$;

-- ================================================================ Configuration

-- Configuration items of all sections. definition: as in the bundle, with defaults filled in. compiled: the same with ids instead
-- of codes and logins. updated_by: who changed the item last; null for the service itself. former_codes: codes that the item had
-- before it was renamed; they cannot be used again in its section.
CREATE TABLE config_items (
  id uuid PRIMARY KEY,
  section text NOT NULL,
  code text NOT NULL,
  state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  version integer NOT NULL DEFAULT 1,
  definition jsonb NOT NULL,
  compiled jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  updated_by uuid,
  former_codes text[] NOT NULL DEFAULT '{}',
  CONSTRAINT config_items_code UNIQUE (section, code)
);

-- Ids of the parts of an item (states, transitions, options, …). A code keeps its id, even after it was removed.
CREATE TABLE config_ids (
  id uuid PRIMARY KEY,
  scope text NOT NULL,
  code text NOT NULL,
  CONSTRAINT config_ids_code UNIQUE (scope, code)
);

-- All versions of each record type; records refer to them by version.
CREATE TABLE type_versions (
  type_id uuid NOT NULL REFERENCES config_items (id),
  version integer NOT NULL,
  compiled jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (type_id, version)
);

-- The history of the configuration outside users, groups and units. A version holds the items that changed in it, with their
-- whole definition; an item at a version is its newest row up to that version.
CREATE TABLE config_versions (
  -- The value of cache_versions.config from this change on.
  version bigint PRIMARY KEY,
  changed_at timestamptz(3) NOT NULL,
  -- Null for the service itself.
  changed_by uuid
);
CREATE TABLE config_item_versions (
  item_id uuid NOT NULL,
  version bigint NOT NULL REFERENCES config_versions (version),
  section text NOT NULL,
  code text NOT NULL,
  state text NOT NULL CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  definition jsonb NOT NULL,
  PRIMARY KEY (item_id, version)
);
CREATE INDEX config_item_versions_by_version ON config_item_versions (version);
-- The empty configuration is the first version.
INSERT INTO config_versions (version, changed_at) SELECT config, now() FROM cache_versions;

-- States that were removed from their workflow. No record may enter one, also in a process that still has the old configuration.
CREATE TABLE removed_states (
  id uuid NOT NULL,
  CONSTRAINT removed_states_pkey PRIMARY KEY (id)
);

-- ================================================================ Identity

-- updated_by: who changed the user, group or unit last; null for the service itself.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  login text NOT NULL,
  login_key text NOT NULL CONSTRAINT users_login UNIQUE,
  display_name text NOT NULL,
  email text,
  email_key text CONSTRAINT users_email UNIQUE,
  locale text,
  timezone text,
  employee_id text,
  external_id text,
  state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  password_hash text,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  revision integer NOT NULL DEFAULT 1,
  updated_by uuid
);
-- OpenID Connect sign-in identifies users by external_id. Archived users keep theirs.
CREATE UNIQUE INDEX users_external_id ON users (external_id);

CREATE TABLE groups (
  id uuid PRIMARY KEY,
  code text NOT NULL,
  code_key text NOT NULL CONSTRAINT groups_code UNIQUE,
  name jsonb NOT NULL,
  state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  revision integer NOT NULL DEFAULT 1,
  updated_by uuid
);

-- The tree of organization units.
CREATE TABLE org_units (
  id uuid PRIMARY KEY,
  code text NOT NULL,
  code_key text NOT NULL CONSTRAINT org_units_code UNIQUE,
  name jsonb NOT NULL,
  parent_id uuid REFERENCES org_units (id),
  manager_user_id uuid REFERENCES users (id),
  location text,
  state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  revision integer NOT NULL DEFAULT 1,
  updated_by uuid
);
CREATE INDEX org_units_parent ON org_units (parent_id);

-- Members of groups: users and other groups.
CREATE TABLE group_members (
  id uuid PRIMARY KEY,
  group_id uuid NOT NULL REFERENCES groups (id),
  member_type text NOT NULL CHECK (member_type IN ('user', 'group')),
  member_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT group_members_member UNIQUE (group_id, member_type, member_id),
  CONSTRAINT group_members_self CHECK (member_type <> 'group' OR member_id <> group_id)
);
CREATE INDEX group_members_by_member ON group_members (member_id, member_type);

-- The organization unit of each user; a user has at most one.
CREATE TABLE org_members (
  id uuid PRIMARY KEY,
  organization_unit_id uuid NOT NULL REFERENCES org_units (id),
  user_id uuid NOT NULL REFERENCES users (id) CONSTRAINT org_members_user UNIQUE,
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX org_members_by_unit ON org_members (organization_unit_id);

-- ================================================================ Access

-- Roles of users and groups.
CREATE TABLE role_assignments (
  role_id uuid NOT NULL REFERENCES config_items (id),
  member_type text NOT NULL CHECK (member_type IN ('user', 'group')),
  member_id uuid NOT NULL,
  PRIMARY KEY (role_id, member_type, member_id)
);
CREATE INDEX role_assignments_by_member ON role_assignments (member_id);

-- API keys. secret_hash: the current secret. previous_hash: the secret before a rotation, accepted until previous_until.
-- allow: the networks that requests may come from; empty means any.
CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  prefix text NOT NULL CONSTRAINT api_keys_prefix UNIQUE,
  secret_hash bytea NOT NULL,
  previous_hash bytea,
  previous_until timestamptz(3),
  owner_id uuid NOT NULL REFERENCES users (id),
  name text NOT NULL,
  scopes text[] NOT NULL,
  allow text[] NOT NULL DEFAULT '{}',
  expires_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  created_by uuid,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
CREATE INDEX api_keys_owner ON api_keys (owner_id);

-- Console sessions. What their owner sees of them: the browser, the address of the last use, and when that was. last_seen_at is
-- written in the background, at most once a minute.
CREATE TABLE sessions (
  token_hash bytea PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  csrf_hash bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  user_agent text,
  address text,
  last_seen_at timestamptz(3)
);
CREATE INDEX sessions_user ON sessions (user_id);

-- Sign-in attempts, counted before the password is verified. key: a hash of what is counted: a login, an address, or a login with
-- an address or device. Unlogged: after a crash every count starts again.
CREATE UNLOGGED TABLE sign_in_attempts (
  key bytea PRIMARY KEY,
  attempts integer NOT NULL,
  blocked_until timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX sign_in_attempts_updated ON sign_in_attempts (updated_at);

-- Addresses and devices that a user signed in from. origin_hash: a hash of the address, or of the id in the device's cookie.
CREATE TABLE sign_in_origins (
  user_id uuid NOT NULL REFERENCES users (id),
  origin_hash bytea NOT NULL,
  last_at timestamptz(3) NOT NULL,
  PRIMARY KEY (user_id, origin_hash)
);
CREATE INDEX sign_in_origins_last ON sign_in_origins (last_at);

-- ================================================================ Records

-- Records of all types. values: field code → value. folded: the same values in the normal form that conditions and sorting compare.
CREATE TABLE objects (
  id uuid PRIMARY KEY,
  type_id uuid NOT NULL,
  type_version integer NOT NULL,
  number text,
  title text,
  revision integer NOT NULL,
  state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  workflow_state_id uuid,
  "values" jsonb NOT NULL,
  folded jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  created_by uuid,
  updated_at timestamptz(3) NOT NULL,
  updated_by uuid,
  archived_at timestamptz(3)
);
CREATE UNIQUE INDEX objects_number ON objects (number) WHERE number IS NOT NULL;
CREATE INDEX objects_newest ON objects (created_at DESC, id DESC) WHERE state = 'ACTIVE';
CREATE INDEX objects_newest_of_type ON objects (type_id, created_at DESC, id DESC) WHERE state = 'ACTIVE';
CREATE INDEX objects_updated ON objects (updated_at DESC, id DESC) WHERE state = 'ACTIVE';
CREATE INDEX objects_archived ON objects (created_at DESC, id DESC) WHERE state = 'ARCHIVED';
-- Sorts search matches by an index-only scan.
CREATE INDEX objects_order ON objects (id) INCLUDE (updated_at, created_at) WHERE state = 'ACTIVE';

-- Images in the rich text of a record, including its history. They are kept as long as the record.
CREATE TABLE inline_images (
  object_id uuid NOT NULL,
  sha256 text NOT NULL REFERENCES blobs (sha256),
  media_type text NOT NULL,
  size integer NOT NULL,
  PRIMARY KEY (object_id, sha256)
);
CREATE INDEX inline_images_content ON inline_images (sha256);

CREATE TABLE comments (
  id uuid PRIMARY KEY,
  object_id uuid NOT NULL,
  revision integer NOT NULL,
  body text NOT NULL,
  visibility text NOT NULL CHECK (visibility IN ('public', 'internal')),
  state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  author_id uuid,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
);
-- Includes archived comments: the history asks which of all comments were internal.
CREATE INDEX comments_of_object ON comments (object_id, created_at, id);

-- A file with a comment_id came with that comment and is seen by those who may see it; the others are seen by everybody who reads the
-- record.
CREATE TABLE attachments (
  id uuid PRIMARY KEY,
  object_id uuid NOT NULL,
  original_filename text NOT NULL,
  media_type text NOT NULL,
  size integer NOT NULL CHECK (size > 0),
  sha256 text NOT NULL REFERENCES blobs (sha256),
  revision integer NOT NULL,
  state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  created_at timestamptz(3) NOT NULL,
  created_by uuid,
  comment_id uuid
);
CREATE INDEX attachments_of_object ON attachments (object_id, created_at, id) WHERE state = 'ACTIVE';
CREATE INDEX attachments_content ON attachments (sha256);

-- Files that wait for a comment. Only their uploaders see them; a comment moves them to attachments, and after a day they are removed.
CREATE TABLE attachment_drafts (
  id uuid PRIMARY KEY,
  object_id uuid NOT NULL,
  original_filename text NOT NULL,
  media_type text NOT NULL,
  size integer NOT NULL CHECK (size > 0),
  sha256 text NOT NULL REFERENCES blobs (sha256),
  created_at timestamptz NOT NULL,
  created_by uuid NOT NULL
);
CREATE INDEX attachment_drafts_content ON attachment_drafts (sha256);
CREATE INDEX attachment_drafts_of_user ON attachment_drafts (object_id, created_by);
CREATE INDEX attachment_drafts_by_age ON attachment_drafts (created_at);

-- Directed relations between records. unique_source_id repeats source_id if the definition allows a source only one active relation;
-- unique_target_id does so for targets. Unique indexes on them enforce the cardinality against concurrent writers.
CREATE TABLE relations (
  id uuid PRIMARY KEY,
  definition_id uuid NOT NULL,
  source_id uuid NOT NULL,
  target_id uuid NOT NULL,
  unique_source_id uuid,
  unique_target_id uuid,
  revision integer NOT NULL,
  state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  created_at timestamptz(3) NOT NULL,
  created_by uuid,
  CHECK (source_id <> target_id)
);
CREATE UNIQUE INDEX relations_unique ON relations (source_id, definition_id, target_id) WHERE state = 'ACTIVE';
CREATE UNIQUE INDEX relations_unique_source ON relations (definition_id, unique_source_id)
  WHERE state = 'ACTIVE' AND unique_source_id IS NOT NULL;
CREATE UNIQUE INDEX relations_unique_target ON relations (definition_id, unique_target_id)
  WHERE state = 'ACTIVE' AND unique_target_id IS NOT NULL;
CREATE INDEX relations_incoming ON relations (target_id) WHERE state = 'ACTIVE';

-- ================================================================ Search

-- Search index of records: one narrow row per record, written in the transaction of the change.
-- words: lexemes with positions and weights (A to D). A lexeme of a field that some role hides starts with the field's token
-- (U+0001, field code, U+0001); a lexeme of the record number starts with U+0002; all other lexemes are readable to every role.
-- profile_id: identifies how the row was made: type version, fields with a token, text analysis. Rows of an outdated profile are
-- rebuilt. size: number of words without a token, for length normalisation.
CREATE TABLE search_records (
  id uuid PRIMARY KEY,
  profile_id integer NOT NULL,
  size integer NOT NULL,
  words tsvector NOT NULL
);
ALTER TABLE search_records ALTER COLUMN words SET STATISTICS 500;
CREATE INDEX search_records_words ON search_records USING gin (words) WITH (gin_pending_list_limit = 1024);
CREATE INDEX search_records_profile ON search_records (profile_id, id);

-- Search index of comments.
CREATE TABLE search_comments (
  id uuid PRIMARY KEY,
  object_id uuid NOT NULL,
  visibility text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  size integer NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX search_comments_words ON search_comments USING gin (words) WITH (gin_pending_list_limit = 1024);
CREATE INDEX search_comments_updated ON search_comments (updated_at DESC, id DESC);
CREATE INDEX search_comments_object ON search_comments (object_id, updated_at DESC);

-- Search index of articles: the active version of an article in one locale.
CREATE TABLE search_articles (
  id uuid PRIMARY KEY,
  article_id uuid NOT NULL,
  title text NOT NULL,
  summary text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  size integer NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX search_articles_words ON search_articles USING gin (words);

-- The dictionary for typo correction: all indexed words by field token (empty for words without one). Words that are no longer in use
-- stay; they match nothing.
CREATE TABLE search_words (
  field_token text COLLATE "C" NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (field_token, word)
);
CREATE INDEX search_words_reversed ON search_words (field_token, reverse(word) COLLATE "C");

-- Ids of index rows whose words are not in search_words yet. A background task adds them; until then, typo correction reads the words
-- from these rows.
CREATE TABLE search_pending_words (
  id uuid NOT NULL
);

-- Progress of a rebuild of the search index; no row if none is running.
CREATE TABLE search_rebuild (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  part text NOT NULL DEFAULT 'records' CHECK (part IN ('records', 'comments', 'articles')),
  after_id uuid,
  done bigint NOT NULL DEFAULT 0,
  started_at timestamptz(3) NOT NULL
);

-- Records whose row in search_records or whose version was written again without a change of the record, so without a row in the
-- journal. Search indexes in memory read the rows of the transactions that they have not seen.
CREATE TABLE search_rewritten (
  object_id uuid PRIMARY KEY,
  -- The last transaction that did.
  txid xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX search_rewritten_txid ON search_rewritten (txid);

-- ================================================================ SLA

-- All versions of each calendar, so that times can be recalculated with the version that they name.
CREATE TABLE calendar_versions (
  calendar_id uuid NOT NULL REFERENCES config_items (id),
  version integer NOT NULL,
  compiled jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (calendar_id, version)
);

-- SLA timers of records. revision: visible to callers, incremented by visible changes. lock_version: incremented by every write, the
-- guard of conditional writes. pauses: [{from, to, by, actorId}]; the last one has no `to` while the timer is paused.
-- notified_thresholds: percentages of the warnings that were emitted, and "breach". due_at and next_at are calculated with
-- policy_version and calendar_version; for a stopped timer they, target_ms and elapsed_ms keep their last values.
CREATE TABLE sla_instances (
  id uuid PRIMARY KEY,
  object_id uuid NOT NULL,
  policy_id uuid NOT NULL,
  policy_version integer NOT NULL,
  revision integer NOT NULL,
  lock_version integer NOT NULL,
  status text NOT NULL CHECK (status IN ('ACTIVE', 'PAUSED', 'STOPPED')),
  started_at timestamptz(3) NOT NULL,
  stopped_at timestamptz(3) CHECK ((stopped_at IS NOT NULL) = (status = 'STOPPED')),
  pauses jsonb NOT NULL,
  start_armed boolean NOT NULL,
  pause_armed boolean NOT NULL,
  target_ms bigint NOT NULL CHECK (target_ms > 0),
  calendar_id uuid NOT NULL,
  calendar_version integer NOT NULL,
  pinned boolean NOT NULL,
  elapsed_ms bigint,
  due_at timestamptz(3),
  next_at timestamptz(3) CHECK (status <> 'STOPPED' OR next_at IS NULL),
  notified_thresholds jsonb NOT NULL
);
CREATE INDEX sla_instances_object ON sla_instances (object_id);
-- The next due timer is the first entry. Paused timers are included with a null next_at, so that a change of policies or calendars finds
-- all running timers in this index.
CREATE INDEX sla_instances_timers ON sla_instances (next_at) WHERE status <> 'STOPPED';

-- ================================================================ Knowledge base

-- Articles. revision: incremented by every change of any version of the article, and the guard of each such change.
-- review_on: when somebody should check the article again; null if no date is set.
CREATE TABLE kb_articles (
  id uuid PRIMARY KEY,
  base_id uuid NOT NULL REFERENCES config_items (id),
  code text NOT NULL,
  revision integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  created_by uuid,
  review_on date,
  CONSTRAINT kb_articles_code UNIQUE (base_id, code)
);

-- Versions of articles, per locale. document: the text as a ProseMirror document; body: the same text as Markdown.
-- audiences: as entered; audience_ids: the ids of these users, groups and units, the nil UUID for everyone.
-- state_token: a new random value with every change of the version; archiving requires the token that the caller read.
-- draft_locale and active_locale hold the locale while the version is a draft or active, so that unique constraints allow one of each.
-- They are checked at the end of a statement, because one statement publishes a version and archives another.
CREATE TABLE kb_versions (
  id uuid PRIMARY KEY,
  article_id uuid NOT NULL REFERENCES kb_articles (id),
  section_id uuid NOT NULL,
  locale text NOT NULL,
  state text NOT NULL CHECK (state IN ('DRAFT', 'ACTIVE', 'ARCHIVED')),
  draft_locale text CHECK (draft_locale IS NOT DISTINCT FROM CASE WHEN state = 'DRAFT' THEN locale END),
  active_locale text CHECK (active_locale IS NOT DISTINCT FROM CASE WHEN state = 'ACTIVE' THEN locale END),
  title text NOT NULL,
  summary text,
  tags text[] NOT NULL,
  responsible_id uuid,
  visibility text NOT NULL CHECK (visibility IN ('internal', 'portal')),
  document jsonb NOT NULL,
  body text NOT NULL,
  audiences jsonb NOT NULL DEFAULT '[]',
  audience_ids uuid[] NOT NULL DEFAULT '{}',
  state_token uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL,
  created_by uuid,
  updated_at timestamptz(3) NOT NULL,
  updated_by uuid,
  published_at timestamptz(3),
  published_by uuid,
  archived_at timestamptz(3),
  CONSTRAINT kb_versions_draft UNIQUE (article_id, draft_locale) DEFERRABLE INITIALLY IMMEDIATE,
  CONSTRAINT kb_versions_active UNIQUE (article_id, active_locale) DEFERRABLE INITIALLY IMMEDIATE
);
CREATE INDEX kb_versions_by_article ON kb_versions (article_id, locale);
CREATE INDEX kb_versions_newest ON kb_versions (state, updated_at DESC, id DESC);

-- Images in any version of an article, including former drafts. They are kept as long as the article.
CREATE TABLE kb_images (
  article_id uuid NOT NULL,
  sha256 text NOT NULL REFERENCES blobs (sha256),
  media_type text NOT NULL,
  size integer NOT NULL,
  PRIMARY KEY (article_id, sha256)
);
CREATE INDEX kb_images_content ON kb_images (sha256);

-- Whether an article helped a user. A user has one vote per article and may change it.
CREATE TABLE kb_votes (
  article_id uuid NOT NULL,
  user_id uuid NOT NULL,
  helpful boolean NOT NULL,
  voted_at timestamptz(3) NOT NULL,
  PRIMARY KEY (article_id, user_id)
);

-- The days (UTC) on which a user opened an article. Opening it again on the same day writes nothing. There is no foreign key: its check
-- would lock the row of the article at each view.
CREATE TABLE kb_views (
  article_id uuid NOT NULL,
  day date NOT NULL,
  user_id uuid NOT NULL,
  PRIMARY KEY (article_id, day, user_id)
);
-- Popular articles are counted from the views of the last months.
CREATE INDEX kb_views_by_day ON kb_views (day, article_id);

-- Views of an article on a day (UTC). A background task moves the views of finished days from kb_views to here and removes days
-- that no longer count, so that popular articles are found without reading single views.
CREATE TABLE kb_view_days (
  article_id uuid NOT NULL,
  day date NOT NULL,
  views integer NOT NULL,
  PRIMARY KEY (article_id, day)
);
CREATE INDEX kb_view_days_by_day ON kb_view_days (day);

-- ================================================================ Webhooks

-- Subscriptions are configuration items of the section `webhooks`.

-- Values of signing secrets, encrypted with the master key. expires_at: null for the current value; a value that was replaced by a
-- rotation stays valid until then.
CREATE TABLE signing_secret_values (
  secret_id uuid NOT NULL REFERENCES config_items (id),
  version integer NOT NULL,
  sealed bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3),
  PRIMARY KEY (secret_id, version)
);

-- Periods in which a subscription was enabled, with its settings of that time. A period takes the events of the journal with
-- from_seq < seq <= until_seq (null: no end yet), on records of the listed types (codes; empty means all). A subscription without an
-- open period is disabled or archived.
CREATE TABLE webhook_periods (
  id uuid PRIMARY KEY,
  subscription_id uuid NOT NULL REFERENCES config_items (id),
  from_at timestamptz(3) NOT NULL,
  until_at timestamptz(3),
  event_types text[] NOT NULL,
  max_attempts integer NOT NULL,
  base_delay_ms integer NOT NULL,
  from_seq bigint NOT NULL,
  until_seq bigint,
  types text[] NOT NULL DEFAULT '{}'
);
CREATE INDEX webhook_periods_by_subscription ON webhook_periods (subscription_id, from_at);
CREATE INDEX webhook_periods_open ON webhook_periods (subscription_id) WHERE until_at IS NULL;

-- Sets from_seq and until_seq. All periods that a transaction ends or starts get the same number, so that no event falls between two of
-- them. The lock is held until the transaction ends. Dispatch takes it shared before it reads periods: it sees every period with a
-- number below those of its events, and no later period can get such a number.
CREATE FUNCTION docket_set_period_seq() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  period_seq bigint := nullif(current_setting('docket.period_seq', true), '')::bigint;
  ends boolean := NEW.until_at IS NOT NULL AND NEW.until_seq IS NULL;
BEGIN
  IF NEW.from_seq IS NOT NULL AND NOT ends THEN
    RETURN NEW;
  END IF;
  IF period_seq IS NULL THEN
    PERFORM pg_advisory_xact_lock(7236823413);
    period_seq := nextval(pg_get_serial_sequence('journal', 'seq'));
    PERFORM set_config('docket.period_seq', period_seq::text, true);
  END IF;
  IF NEW.from_seq IS NULL THEN
    NEW.from_seq := period_seq;
  END IF;
  IF ends THEN
    NEW.until_seq := period_seq;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER webhook_periods_seq BEFORE INSERT OR UPDATE ON webhook_periods
FOR EACH ROW EXECUTE FUNCTION docket_set_period_seq();

-- Deliveries: one row per event and subscription. due_at: when the next attempt may start; during an attempt, when its lease ends and
-- another process may repeat it. event_data: ids and titles that the event names beside its record.
CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY,
  subscription_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  object_id uuid,
  event_at timestamptz(3) NOT NULL,
  event_data jsonb NOT NULL,
  status text NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'DELIVERED', 'FAILED', 'SKIPPED')),
  attempt_count integer NOT NULL DEFAULT 0,
  max_attempts integer NOT NULL,
  base_delay_ms integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  due_at timestamptz(3) NOT NULL,
  lease uuid,
  finished_at timestamptz(3),
  error text,
  event_seq bigint NOT NULL,
  CONSTRAINT webhook_deliveries_event UNIQUE (event_id, subscription_id),
  CHECK (attempt_count <= max_attempts)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (subscription_id, due_at, event_seq, id) WHERE status = 'PENDING';
CREATE INDEX webhook_deliveries_by_subscription ON webhook_deliveries (subscription_id, status, event_seq, id);
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (status, event_seq, id);

-- Attempts of deliveries. status: the HTTP status; null if there was no response, in which case error has the reason.
CREATE TABLE webhook_attempts (
  delivery_id uuid NOT NULL,
  number integer NOT NULL,
  at timestamptz(3) NOT NULL,
  status integer,
  duration_ms integer NOT NULL,
  body_excerpt text,
  error text,
  PRIMARY KEY (delivery_id, number)
);

-- ================================================================ Inbound integrations

-- Calls of inbound integrations and their results. A rejected call leaves only its row here.
CREATE TABLE inbound_runs (
  id uuid PRIMARY KEY,
  integration_id uuid NOT NULL,
  at timestamptz(3) NOT NULL,
  command text NOT NULL,
  status text NOT NULL CHECK (status IN ('SUCCEEDED', 'FAILED')),
  object_id uuid,
  comment_id uuid,
  owner_id uuid,
  key_id uuid,
  correlation_id text NOT NULL,
  error jsonb
);
CREATE INDEX inbound_runs_newest ON inbound_runs (integration_id, at DESC, id DESC);
CREATE INDEX inbound_runs_age ON inbound_runs USING brin (at);

-- ================================================================ Imports

-- Ids of the source system for imported things. An external id is unique per source and kind.
CREATE TABLE external_ids (
  source_code text NOT NULL,
  target_kind text NOT NULL CHECK (target_kind IN ('object', 'user', 'group', 'organization')),
  external_id text NOT NULL,
  target_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (source_code, target_kind, external_id)
);

-- Import runs. content_key: SHA-256 of the definition and the file, which identifies an interrupted run of the same file.
CREATE TABLE import_runs (
  id uuid PRIMARY KEY,
  definition_id uuid NOT NULL,
  dry_run boolean NOT NULL,
  state text NOT NULL DEFAULT 'RUNNING' CHECK (state IN ('RUNNING', 'FINISHED')),
  succeeded integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  skipped integer NOT NULL DEFAULT 0,
  total integer NOT NULL,
  file_name text,
  content_key text,
  started_at timestamptz(3) NOT NULL,
  started_by uuid,
  touched_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  undone_at timestamptz(3),
  undone_by uuid
);
CREATE INDEX import_runs_newest ON import_runs (started_at DESC, id DESC);
CREATE INDEX import_runs_unfinished ON import_runs (definition_id, content_key) WHERE state = 'RUNNING';

-- Results of the rows of a run. revision: the revision that the row produced. before: the previous values of targets without a history of
-- their own. undo_revision: the revision after the row was undone; an interrupted undo continues from there.
CREATE TABLE import_rows (
  run_id uuid NOT NULL,
  row integer NOT NULL,
  external_id text,
  status text NOT NULL CHECK (status IN ('CREATED', 'UPDATED', 'SKIPPED', 'FAILED')),
  target_id uuid,
  revision integer,
  errors jsonb,
  before jsonb,
  undo text CHECK (undo IN ('UNDONE', 'SKIPPED', 'FAILED')),
  undo_revision integer,
  PRIMARY KEY (run_id, row)
);
CREATE INDEX import_rows_failed ON import_rows (run_id, row) WHERE status = 'FAILED';

-- ================================================================ Console

-- Saved queues of the console, private or shared. definition: filter, columns and order. group_id: the group whose members see a queue
-- that is not shared with everybody; null for private queues.
CREATE TABLE desk_queues (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL REFERENCES users (id),
  name text NOT NULL,
  shared boolean NOT NULL,
  definition jsonb NOT NULL,
  revision integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  group_id uuid
);
CREATE INDEX desk_queues_own ON desk_queues (owner_id);
CREATE INDEX desk_queues_shared ON desk_queues (name) WHERE shared;

-- ================================================================ Reports

-- Facts for reports: moments and counts that the row of a record does not hold. One narrow row per record, written in the statement of
-- the change; a report of a period or of a state reads it instead of the wide rows of `objects`.
-- state, workflow_state_id: as in `objects`. done_at: when the record entered the states of the category `done`; null while it is in
-- another state. reopened: how often it left them. first_reply_at: the first public comment by somebody other than the requester.
CREATE TABLE report_facts (
  id uuid PRIMARY KEY,
  type_id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  workflow_state_id uuid,
  created_at timestamptz(3) NOT NULL,
  first_reply_at timestamptz(3),
  done_at timestamptz(3),
  reopened integer NOT NULL DEFAULT 0
);
CREATE INDEX report_facts_created ON report_facts (type_id, created_at);
CREATE INDEX report_facts_done ON report_facts (type_id, done_at) WHERE done_at IS NOT NULL;
-- The records in a few states, for example all open ones.
CREATE INDEX report_facts_state ON report_facts (workflow_state_id);

-- Progress of a rebuild of the facts; no row if none is running.
CREATE TABLE report_rebuild (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  after_id uuid,
  done bigint NOT NULL DEFAULT 0,
  started_at timestamptz(3) NOT NULL
);

-- Counts of records for reports on whole types, so that such a report does not read every record. A background task counts the
-- records of large types and follows their changes in the journal; nothing is written with a change. A report corrects the
-- counts by the records that changed after the last pass.

-- Progress of following the journal. The process that counts locks this row.
CREATE TABLE report_counting (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- Changes visible in this snapshot are counted; null: nothing is.
  done pg_snapshot,
  -- The database that the snapshot is of. Snapshots of another one mean nothing here.
  storage text
);
INSERT INTO report_counting DEFAULT VALUES;

-- Types whose records are counted. fields: the stored codes of the fields that have cells. The first count goes through the
-- records by their time of creation and has come to after_at and after_id; is_whole: it is complete.
CREATE TABLE report_counted_types (
  type_id uuid PRIMARY KEY,
  fields text[] NOT NULL,
  after_at timestamptz(3) NOT NULL,
  after_id uuid NOT NULL,
  is_whole boolean NOT NULL
);

-- Records of a type created on one day (UTC, `created_at` is its start), in one state of the workflow, with one value of one field.
-- The field '' has no value and counts every record. The id is a hash of the other columns of the key. Sums in milliseconds; undone_ms
-- sums the times of creation since 1970 of records that are not done. sla_ended, sla_met: stopped SLA instances, and those of them that
-- met their target.
CREATE TABLE report_cells (
  id uuid PRIMARY KEY,
  type_id uuid NOT NULL,
  field text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  workflow_state_id uuid,
  "values" jsonb NOT NULL,
  n bigint NOT NULL,
  reopened bigint NOT NULL,
  replied bigint NOT NULL,
  reply_ms bigint NOT NULL,
  done bigint NOT NULL,
  done_ms bigint NOT NULL,
  undone_ms bigint NOT NULL,
  sla_ended bigint NOT NULL,
  sla_met bigint NOT NULL
);
CREATE INDEX report_cells_days ON report_cells (type_id, field, created_at);

-- How each record was counted: in which cells, and with which figures.
CREATE TABLE report_counted (
  id uuid PRIMARY KEY,
  type_id uuid NOT NULL,
  cells uuid[] NOT NULL,
  created_at timestamptz(3) NOT NULL,
  first_reply_at timestamptz(3),
  done_at timestamptz(3),
  reopened integer NOT NULL,
  sla_ended integer NOT NULL,
  sla_met integer NOT NULL
);
CREATE INDEX report_counted_type ON report_counted (type_id);

-- A rebuild of facts changes them without the journal, so the counts made from them become invalid. Waits for a pass of
-- counting that is running.
CREATE FUNCTION docket_forget_report_cells() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE report_counting SET done = NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER report_rebuild_begins AFTER INSERT ON report_rebuild
FOR EACH ROW EXECUTE FUNCTION docket_forget_report_cells();

-- Dashboards that users made. Those of the configuration are in config_items.
CREATE TABLE report_dashboards (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL REFERENCES users (id),
  name text NOT NULL,
  tiles jsonb NOT NULL,
  -- Ids of roles and groups. The dashboard is private if both are empty.
  shared_roles uuid[] NOT NULL DEFAULT '{}',
  shared_groups uuid[] NOT NULL DEFAULT '{}',
  revision integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
);
CREATE INDEX report_dashboards_own ON report_dashboards (owner_id);
CREATE INDEX report_dashboards_shared ON report_dashboards (name) WHERE shared_roles <> '{}' OR shared_groups <> '{}';

-- ================================================================ Rules

-- What rules did: one row for each time that a rule fired, written in the transaction of the change that fired it. rule_id: the
-- configuration item. chain: codes of the rules that led to it, as a JSON array. effects: what the actions did, with ids. Only the
-- newest runs of each rule are kept.
CREATE TABLE rule_runs (
  id uuid PRIMARY KEY,
  rule_id uuid NOT NULL,
  object_id uuid NOT NULL,
  at timestamptz(3) NOT NULL,
  event_type text NOT NULL,
  chain jsonb NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('DONE', 'FAILED')),
  effects jsonb NOT NULL,
  error jsonb,
  duration_ms integer NOT NULL,
  correlation_id text NOT NULL
);
CREATE INDEX rule_runs_newest ON rule_runs (rule_id, at DESC, id DESC);

-- When rules on time fire: one row for each rule and record. since: the moment from which the time counts. due_at: when the rule
-- fires; null once it did, or if it never will. The versions are those that due_at was computed with; calendar_version is null
-- without a calendar. The row only selects candidates: what applies is computed again when the rule fires.
CREATE TABLE rule_timers (
  rule_id uuid NOT NULL,
  object_id uuid NOT NULL REFERENCES objects (id),
  since timestamptz(3) NOT NULL,
  due_at timestamptz(3),
  rule_version integer NOT NULL,
  calendar_version integer,
  PRIMARY KEY (object_id, rule_id)
);
CREATE INDEX rule_timers_due ON rule_timers (due_at) WHERE due_at IS NOT NULL;

-- Arms a new or changed rule on the records that are there. pass: how often all of them were seen; after_id: the last one that
-- the current pass has seen.
CREATE TABLE rule_timer_scans (
  rule_id uuid PRIMARY KEY,
  rule_version integer NOT NULL,
  begun_at timestamptz(3) NOT NULL,
  pass smallint NOT NULL DEFAULT 0,
  after_id uuid
);

-- ================================================================ Notifications

-- Notifications of users about records. A background task follows the places of the journal and makes them after commit, so that
-- changes of records do not wait for them.

-- Progress of following the places. The process that makes notifications locks this row. after_user: the recipients up to which
-- the event at the next place is done. Events up to after_seq of the journal make none.
CREATE TABLE notification_making (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  place bigint NOT NULL,
  after_user uuid,
  after_seq bigint NOT NULL
);
INSERT INTO notification_making (place, after_seq) VALUES (0, 0);

-- Transactions of imports whose definition notifies. Several calls can share a transaction, so the call is named, too.
CREATE TABLE notification_imports (
  txid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  correlation_id text NOT NULL,
  at timestamptz(3) NOT NULL,
  PRIMARY KEY (txid, correlation_id)
);

CREATE TABLE notification_watchers (
  object_id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (object_id, user_id)
);
CREATE INDEX notification_watchers_user ON notification_watchers (user_id);

-- Progress of removing the watches of users who may no longer read the record. versions: the versions of rights and configuration
-- under which all watches were judged; target: those of an unfinished pass, which has come to after_user.
CREATE TABLE notification_watch_check (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  versions text,
  target text,
  after_user uuid
);
INSERT INTO notification_watch_check DEFAULT VALUES;

-- What a user chose. choices: kind → {console, mail}; kinds that are missing have their defaults. Quiet hours are local times in
-- the time zone of the user, as HH:MM.
CREATE TABLE notification_settings (
  user_id uuid PRIMARY KEY,
  choices jsonb NOT NULL DEFAULT '{}',
  quiet_from text CHECK (quiet_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  quiet_to text CHECK (quiet_to ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT notification_settings_quiet CHECK ((quiet_from IS NULL) = (quiet_to IS NULL))
);

-- fields: stored codes of the changed fields, of which the user must be able to read one; null if the event is not about fields.
-- in_console: whether the user chose the console for this kind.
CREATE TABLE notifications (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  place bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('assigned', 'comment', 'mention', 'state', 'sla', 'rule', 'watch')),
  object_id uuid NOT NULL,
  comment_id uuid,
  actor_id uuid,
  fields text[],
  in_console boolean NOT NULL,
  at timestamptz(3) NOT NULL,
  read_at timestamptz(3),
  CONSTRAINT notifications_once UNIQUE (user_id, event_id)
);
CREATE UNIQUE INDEX notifications_comment ON notifications (user_id, comment_id) WHERE comment_id IS NOT NULL;
CREATE INDEX notifications_list ON notifications (user_id, place DESC) WHERE in_console;
CREATE INDEX notifications_unread ON notifications (user_id, place DESC) WHERE in_console AND read_at IS NULL;
CREATE INDEX notifications_place ON notifications (place);
CREATE INDEX notifications_age ON notifications (at);

-- Mails to send, one for each notification. Those of one user with the same batch are one mail, and so are digests that are due
-- at the same time. The sender judges the rights again and deletes the row.
CREATE TABLE notification_mails (
  notification_id uuid PRIMARY KEY,
  user_id uuid NOT NULL,
  kind text NOT NULL,
  is_digest boolean NOT NULL,
  batch text,
  due_at timestamptz(3) NOT NULL
);
CREATE INDEX notification_mails_due ON notification_mails (due_at, user_id);

-- ================================================================ Mail

-- A record and a user to whom mail about it was sent. The handle stands for both in the address of replies, whose local part has
-- 64 characters: 40 bits, as src/domain/mail/reply-token.ts writes them.
CREATE TABLE mail_threads (
  handle bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 1099511627775) PRIMARY KEY,
  object_id uuid NOT NULL,
  user_id uuid NOT NULL,
  CONSTRAINT mail_threads_pair UNIQUE (object_id, user_id)
);

-- Received messages: what they became, or why they were not used. message_key is a hash of sender and message id. The message as
-- it was received (sha256, size) is kept while it can be tried again; trusted: whether the server that handed it in may say whom
-- it authenticated. detail: the error of a refused message. mail_id: the mail that a received bounce is about.
CREATE TABLE mail_messages (
  id uuid PRIMARY KEY,
  mailbox_id uuid NOT NULL,
  message_key text NOT NULL,
  state text NOT NULL CHECK (state IN ('USED', 'LISTED')),
  reason text,
  detail jsonb,
  at timestamptz(3) NOT NULL,
  sender text,
  subject text NOT NULL,
  object_id uuid,
  comment_id uuid,
  sha256 text REFERENCES blobs (sha256),
  size integer NOT NULL,
  trusted boolean NOT NULL,
  mail_id uuid,
  CONSTRAINT mail_messages_reason CHECK ((state = 'LISTED') = (reason IS NOT NULL)),
  CONSTRAINT mail_messages_kept CHECK ((state = 'LISTED') = (sha256 IS NOT NULL))
);
-- A message has one effect. Messages that were not used do not keep a later one with the same key from being used.
CREATE UNIQUE INDEX mail_messages_once ON mail_messages (mailbox_id, message_key) WHERE state = 'USED';
CREATE UNIQUE INDEX mail_messages_listed_once ON mail_messages (mailbox_id, message_key, sha256) WHERE state = 'LISTED';
CREATE INDEX mail_messages_newest ON mail_messages (at DESC, id DESC);
CREATE INDEX mail_messages_listed ON mail_messages (at DESC, id DESC) WHERE state = 'LISTED';
CREATE INDEX mail_messages_content ON mail_messages (sha256) WHERE sha256 IS NOT NULL;

-- The process that reads a mailbox over IMAP. until: the end of its lease, unless it renews it. failing_since, error: why the
-- mailbox cannot be read, and since when; null while it can.
CREATE TABLE mailbox_readers (
  mailbox_id uuid PRIMARY KEY,
  holder uuid NOT NULL,
  until timestamptz(3) NOT NULL,
  failing_since timestamptz(3),
  error text
);

-- Mails to users: waiting, sent, given up (FAILED), or about nothing that the user may see (DROPPED). The id is that of the first
-- notification; Message-ID is made of it, so that a mail that is sent twice after a crash has one. object_id and comment_id: what a
-- mail about one notification is about. next_at: the next attempt, or the end of the lease of a running one. mailbox_id and
-- address: from which mailbox and to which address the mail was sent last; a bounce must name both.
CREATE TABLE mail_outgoing (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL,
  notification_ids uuid[] NOT NULL,
  object_id uuid,
  comment_id uuid,
  status text NOT NULL CHECK (status IN ('PENDING', 'SENT', 'FAILED', 'DROPPED')),
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamptz(3) NOT NULL,
  next_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  error text,
  mailbox_id uuid,
  address text
);
CREATE INDEX mail_outgoing_next ON mail_outgoing (next_at) WHERE status = 'PENDING';
CREATE INDEX mail_outgoing_age ON mail_outgoing (due_at);
CREATE INDEX mail_outgoing_failed ON mail_outgoing (due_at) WHERE status = 'FAILED';

-- Mails of which a bounce says that they were not delivered. error: status and diagnostic text of the bounce. The next attempt
-- deletes the row.
CREATE TABLE mail_bounces (
  mail_id uuid PRIMARY KEY REFERENCES mail_outgoing (id) ON DELETE CASCADE,
  at timestamptz(3) NOT NULL,
  error text NOT NULL
);

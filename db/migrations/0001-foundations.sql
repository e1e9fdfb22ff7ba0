-- The tables of the house's first rooms. Plain SQL that PostgreSQL 15 to 18 share.
-- Hot tables (objects, journal, outbox, idempotency) carry no foreign keys: each would lock a parent row per write,
-- and the rows they point to are archived, never deleted.

-- One row that every change of rights or configuration raises; each process reads it to know that its caches are true.
CREATE TABLE epoch (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  config bigint NOT NULL DEFAULT 1,
  rights bigint NOT NULL DEFAULT 1
);
INSERT INTO epoch DEFAULT VALUES;

-- ---------------------------------------------------------------- configuration
-- definition: as the bundle writes it, defaults filled in. compiled: the same with ids in place of logins and codes.
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
  CONSTRAINT config_items_code UNIQUE (section, code)
);

-- Ids of things inside an item (states, transitions, …): a code keeps its id for ever, also after it was taken away.
CREATE TABLE config_ids (
  id uuid PRIMARY KEY,
  scope text NOT NULL,
  code text NOT NULL,
  CONSTRAINT config_ids_code UNIQUE (scope, code)
);

CREATE TABLE type_versions (
  type_id uuid NOT NULL REFERENCES config_items (id),
  version integer NOT NULL,
  compiled jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (type_id, version)
);

-- ---------------------------------------------------------------- identity
-- The *_key columns hold the one normal form in which names are unique (NFKC, case folded).
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
  failed_sign_ins integer NOT NULL DEFAULT 0,
  locked_until timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
);

CREATE TABLE groups (
  id uuid PRIMARY KEY,
  code text NOT NULL,
  code_key text NOT NULL CONSTRAINT groups_code UNIQUE,
  name jsonb NOT NULL,
  state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
);

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
  updated_at timestamptz(3) NOT NULL
);
CREATE INDEX org_units_parent ON org_units (parent_id);

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

CREATE TABLE org_members (
  id uuid PRIMARY KEY,
  organization_unit_id uuid NOT NULL REFERENCES org_units (id),
  user_id uuid NOT NULL REFERENCES users (id) CONSTRAINT org_members_user UNIQUE,
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX org_members_by_unit ON org_members (organization_unit_id);

-- ---------------------------------------------------------------- access
CREATE TABLE role_assignments (
  role_id uuid NOT NULL REFERENCES config_items (id),
  member_type text NOT NULL CHECK (member_type IN ('user', 'group')),
  member_id uuid NOT NULL,
  PRIMARY KEY (role_id, member_type, member_id)
);
CREATE INDEX role_assignments_by_member ON role_assignments (member_id);

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

CREATE TABLE sessions (
  token_hash bytea PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  csrf_hash bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id);

-- ---------------------------------------------------------------- records
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
CREATE INDEX objects_archived ON objects (created_at DESC, id DESC) WHERE state = 'ARCHIVED';

-- ---------------------------------------------------------------- journal, outbox, idempotency
-- One append-only log: a record's history, the audit log, and (by the outbox beside it) the source of deliveries.
-- txid and hash are for the sealer that chains committed rows below the snapshot horizon without serialising writers.
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
  hash bytea NOT NULL
);
CREATE INDEX journal_object ON journal (object_id, at, seq) WHERE object_id IS NOT NULL;
CREATE INDEX journal_audit ON journal (at, seq) WHERE object_id IS NULL;
-- The order in which rows are sealed: every transaction below the snapshot horizon is over, and none comes behind it any more.
CREATE INDEX journal_sealed ON journal (txid, seq);

CREATE TABLE outbox (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id uuid NOT NULL,
  type text NOT NULL,
  object_id uuid,
  at timestamptz(3) NOT NULL
);

CREATE TABLE idempotency (
  caller_id uuid NOT NULL,
  route text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  status smallint NOT NULL,
  answer text NOT NULL,
  late jsonb,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (caller_id, route, key)
);
CREATE INDEX idempotency_age ON idempotency USING brin (created_at);

-- ---------------------------------------------------------------- guards
-- A statement that writes with a condition calls this in its final SELECT: when another caller came first, the whole
-- statement is undone and the unit of work decides anew. 'DK001' is known to platform/unit-of-work/work.ts alone.
CREATE FUNCTION docket_require(guard text, actual bigint, expected bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF actual IS DISTINCT FROM expected THEN
    RAISE EXCEPTION 'guard % not met', guard USING ERRCODE = 'DK001', DETAIL = guard;
  END IF;
  RETURN true;
END
$$;

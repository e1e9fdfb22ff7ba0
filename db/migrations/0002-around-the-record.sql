-- What stands around a record: comments, relations and files.
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
-- Of archived ones too: a history asks which of all were internal.
CREATE INDEX comments_of_object ON comments (object_id, created_at, id);

-- source_once and target_once hold the end that may have only one active relation of the definition: cardinality is decided by
-- unique indexes, so that no two callers can both be first.
CREATE TABLE relations (
  id uuid PRIMARY KEY,
  definition_id uuid NOT NULL,
  source_id uuid NOT NULL,
  target_id uuid NOT NULL,
  source_once uuid,
  target_once uuid,
  revision integer NOT NULL,
  state text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  created_at timestamptz(3) NOT NULL,
  created_by uuid,
  CHECK (source_id <> target_id)
);
CREATE UNIQUE INDEX relations_once ON relations (source_id, definition_id, target_id) WHERE state = 'ACTIVE';
CREATE UNIQUE INDEX relations_source_once ON relations (definition_id, source_once) WHERE state = 'ACTIVE' AND source_once IS NOT NULL;
CREATE UNIQUE INDEX relations_target_once ON relations (definition_id, target_once) WHERE state = 'ACTIVE' AND target_once IS NOT NULL;
CREATE INDEX relations_incoming ON relations (target_id) WHERE state = 'ACTIVE';

-- Content is kept by the blob store under its SHA-256. `touched_at` is raised before content is put, so that the sweeper, which
-- deletes the row first and the content then, never takes what somebody is about to refer to.
CREATE TABLE blobs (
  sha256 text PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  touched_at timestamptz(3) NOT NULL
);

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
  created_by uuid
);
CREATE INDEX attachments_of_object ON attachments (object_id, created_at, id) WHERE state = 'ACTIVE';
CREATE INDEX attachments_content ON attachments (sha256);

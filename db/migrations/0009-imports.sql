-- Imports: what was imported from where, the runs, and what became of each row.

-- The name that a source has for something of ours; one name means one thing for each source and kind.
CREATE TABLE external_ids (
  source_code text NOT NULL,
  target_kind text NOT NULL CHECK (target_kind IN ('object', 'user', 'group', 'organization')),
  external_id text NOT NULL,
  target_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (source_code, target_kind, external_id)
);

-- content_key: SHA-256 of the definition and the file, by which an interrupted import of a file is found again.
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

-- revision: the record's revision that the row made. before: what stood before, for what keeps no history of its own.
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
  PRIMARY KEY (run_id, row)
);
CREATE INDEX import_rows_failed ON import_rows (run_id, row) WHERE status = 'FAILED';

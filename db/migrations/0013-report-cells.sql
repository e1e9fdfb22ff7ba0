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
-- The field '' has no value and counts every record. The id is a hash of the other columns of the key. Sums in milliseconds; undone_ms sums the times of creation since 1970 of
-- records that are not done. sla_ended, sla_met: stopped SLA instances, and those of them that met their target.
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

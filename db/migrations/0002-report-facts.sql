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

-- Progress of a rebuild of the facts; no row if none is running. Records that exist already get their rows from the first one.
CREATE TABLE report_rebuild (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  after_id uuid,
  done bigint NOT NULL DEFAULT 0,
  started_at timestamptz(3) NOT NULL
);
INSERT INTO report_rebuild (started_at) SELECT now() WHERE EXISTS (SELECT FROM objects);

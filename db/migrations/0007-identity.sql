-- People, groups and units change by compare-and-set: whoever changes one says which revision they saw.
ALTER TABLE users ADD COLUMN revision integer NOT NULL DEFAULT 1;
ALTER TABLE groups ADD COLUMN revision integer NOT NULL DEFAULT 1;
ALTER TABLE org_units ADD COLUMN revision integer NOT NULL DEFAULT 1;

-- What calls from outside came to. A call that was refused leaves nothing but its row here.
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

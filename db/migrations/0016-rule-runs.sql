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

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

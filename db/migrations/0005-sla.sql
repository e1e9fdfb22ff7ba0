-- SLA: what must be done in how much open time, and how it goes. Every version of a calendar is kept, so that figures can
-- be reckoned by the very version that they name.
CREATE TABLE calendar_versions (
  calendar_id uuid NOT NULL REFERENCES config_items (id),
  version integer NOT NULL,
  compiled jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (calendar_id, version)
);
INSERT INTO calendar_versions (calendar_id, version, compiled, created_at)
SELECT id, version, compiled, updated_at FROM config_items WHERE section = 'calendars';

-- revision is what callers see and grows with what they may have to know; turn grows with every write and is what decisions
-- are guarded by. pauses: [{from, to, by, actorId}], the last one without `to` while it lasts. told: percents of warnings
-- that were given, and "breach". due_at and next_at are reckoned by policy_version and calendar_version; for a stopped
-- instance they, target_ms and elapsed_ms stand as they were.
CREATE TABLE sla_instances (
  id uuid PRIMARY KEY,
  object_id uuid NOT NULL,
  policy_id uuid NOT NULL,
  policy_version integer NOT NULL,
  revision integer NOT NULL,
  turn integer NOT NULL,
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
  told jsonb NOT NULL
);
CREATE INDEX sla_instances_object ON sla_instances (object_id);
-- Timers: what is due next is the first entry, however many run. Those without a time stand in it too, so that a change of
-- policies or calendars finds all that run without a look at those that ended.
CREATE INDEX sla_instances_timers ON sla_instances (next_at) WHERE status <> 'STOPPED';

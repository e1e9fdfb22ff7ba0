-- Order by place in the journal, not by clock. `journal.seq` is a change's place: it is drawn while the transaction holds the rows
-- that it changes, so that it rises with the revisions of a record whatever the clocks of processes say.
DROP INDEX journal_object;
CREATE INDEX journal_object ON journal (object_id, seq) WHERE object_id IS NOT NULL;
DROP INDEX journal_audit;
CREATE INDEX journal_audit ON journal (seq) WHERE object_id IS NULL;

-- The place of the event in the journal. Null in rows of a version that did not write it; dispatch then looks it up.
ALTER TABLE outbox ADD COLUMN place bigint;
UPDATE outbox o SET place = j.seq FROM journal j WHERE j.id = o.event_id;

-- A period takes the events whose places lie behind `from_place` and not behind `until_place` (null: it is open), on records of the
-- types named by code; none means all.
ALTER TABLE webhook_periods ADD COLUMN from_place bigint;
ALTER TABLE webhook_periods ADD COLUMN until_place bigint;
ALTER TABLE webhook_periods ADD COLUMN types text[] NOT NULL DEFAULT '{}';

-- A switch of a subscription wrote an event of the same instant, whose place is the period's.
UPDATE webhook_periods p SET from_place = coalesce(
    (SELECT max(j.seq) FROM journal j WHERE j.object_id IS NULL AND j.at = p.from_at),
    (SELECT max(j.seq) FROM journal j WHERE j.object_id IS NULL AND j.at < p.from_at), 0),
  until_place = CASE WHEN p.until_at IS NOT NULL THEN coalesce(
    (SELECT max(j.seq) FROM journal j WHERE j.object_id IS NULL AND j.at = p.until_at),
    (SELECT max(j.seq) FROM journal j WHERE j.object_id IS NULL AND j.at < p.until_at), 0) END,
  types = ARRAY(SELECT jsonb_array_elements_text(w.compiled -> 'filters' -> 'types') FROM config_items w
    WHERE w.id = p.subscription_id);

-- One place for all periods that a transaction ends and begins, so that no event falls between two of them. The lock is held until
-- the transaction is over. Dispatch takes it shared before it reads periods: it sees each period whose place lies before those of
-- the events that it dispatches, and none is given a place among them later.
CREATE FUNCTION docket_period_place() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  place bigint := nullif(current_setting('docket.period_place', true), '')::bigint;
  ends boolean := NEW.until_at IS NOT NULL AND NEW.until_place IS NULL;
BEGIN
  IF NEW.from_place IS NOT NULL AND NOT ends THEN
    RETURN NEW;
  END IF;
  IF place IS NULL THEN
    PERFORM pg_advisory_xact_lock(7236823413);
    place := nextval(pg_get_serial_sequence('journal', 'seq'));
    PERFORM set_config('docket.period_place', place::text, true);
  END IF;
  IF NEW.from_place IS NULL THEN
    NEW.from_place := place;
  END IF;
  IF ends THEN
    NEW.until_place := place;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER webhook_periods_place BEFORE INSERT OR UPDATE ON webhook_periods
FOR EACH ROW EXECUTE FUNCTION docket_period_place();

-- Deliveries in the order of their events, those of one state or one subscription too.
ALTER TABLE webhook_deliveries ADD COLUMN event_place bigint NOT NULL DEFAULT 0;
UPDATE webhook_deliveries d SET event_place = j.seq FROM journal j WHERE j.id = d.event_id;
DROP INDEX webhook_deliveries_due;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (subscription_id, due_at, event_place, id) WHERE status = 'PENDING';
DROP INDEX webhook_deliveries_of;
CREATE INDEX webhook_deliveries_of ON webhook_deliveries (subscription_id, status, event_place, id);
CREATE INDEX webhook_deliveries_in ON webhook_deliveries (status, event_place, id);

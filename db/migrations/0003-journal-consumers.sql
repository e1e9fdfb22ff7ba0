-- One table for the places up to which consumers of the journal have handled its events.
--
-- outbox and notification_making are not used any more. Processes of the version before use them until they are replaced: what both
-- versions make of an event is made once, because unique indexes decide that. The version after this one drops the tables.

-- place: events up to it are handled. within: where the consumer stopped inside the event at the next place; null: it is not begun.
CREATE TABLE journal_consumers (
  name text PRIMARY KEY,
  place bigint NOT NULL DEFAULT 0 CHECK (place >= 0),
  within text
);

-- Events that are not dispatched are in the outbox, or are committed later and then have later places than these.
INSERT INTO journal_consumers (name, place)
SELECT 'webhooks', least(g.place, (SELECT min(p.place) - 1 FROM outbox o JOIN journal_places p ON p.seq = o.journal_seq))
FROM journal_placing g;

INSERT INTO journal_consumers (name, place, within)
SELECT 'notifications', place, after_user::text FROM notification_making;

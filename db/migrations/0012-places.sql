-- Places of journal rows in the changes feed. A place is given after the row's transaction has committed, by one writer at a
-- time, without gaps. A reader that keeps its last place therefore misses no row, however late it was committed. The previous
-- version of the service gives no places: its rows get theirs when this version runs again. Rows that exist get theirs after
-- the migration, in the background.
CREATE TABLE journal_places (
  place bigint PRIMARY KEY CHECK (place > 0),
  seq bigint NOT NULL UNIQUE
);

-- Progress of giving places. The process that gives them locks this row.
CREATE TABLE journal_placing (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- The last place that was given.
  place bigint NOT NULL DEFAULT 0,
  -- All rows visible in this snapshot have places; null: it is unknown which rows have.
  done pg_snapshot,
  -- The snapshot whose rows are being given places in batches, and the last row that got one; null between passes.
  target pg_snapshot,
  target_seq bigint NOT NULL DEFAULT 0,
  -- The database and the run of its server at the last look. Another one begins a new epoch.
  storage text,
  run text,
  -- Encrypts the cursors of the feed.
  cursor_key bytea NOT NULL DEFAULT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);
INSERT INTO journal_placing DEFAULT VALUES;

-- Epochs of the places. Whatever may lose committed rows (a restore, a failover, a crash of a server without durability) begins
-- one. Places up to `after` are the same in the epoch before.
CREATE TABLE journal_epochs (
  number integer PRIMARY KEY CHECK (number > 0),
  id bigint NOT NULL UNIQUE,
  after bigint NOT NULL,
  began_at timestamptz(3) NOT NULL
);

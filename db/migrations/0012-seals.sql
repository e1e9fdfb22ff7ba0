-- The chain over the journal: rows whose transactions are over are sealed behind the writers, in portions. A seal's hash is over
-- the one before it and over place and hash of each of its rows. marks: the first 8 bytes of each row's hash, by which a row that
-- was exchanged is told from its neighbours.
CREATE TABLE journal_seals (
  number bigint PRIMARY KEY CHECK (number > 0),
  sealed_at timestamptz(3) NOT NULL,
  seqs bigint[] NOT NULL,
  marks bytea NOT NULL,
  hash bytea NOT NULL
);

-- How far it is: rows at or before (txid, seq) are sealed. Whoever seals holds this row.
CREATE TABLE journal_sealing (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  txid xid8 NOT NULL DEFAULT '0',
  seq bigint NOT NULL DEFAULT 0,
  number bigint NOT NULL DEFAULT 0,
  hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex')
);
INSERT INTO journal_sealing DEFAULT VALUES;

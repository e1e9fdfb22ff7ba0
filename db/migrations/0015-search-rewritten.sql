-- Records whose row in search_records or whose version was written again without a change of the record, so without a row in the
-- journal. Search indexes in memory read the rows of the transactions that they have not seen.
CREATE TABLE search_rewritten (
  object_id uuid PRIMARY KEY,
  -- The last transaction that did.
  txid xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX search_rewritten_txid ON search_rewritten (txid);

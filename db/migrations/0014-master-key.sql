-- Which master key seals the secrets of this database: a value derived from the key. It tells one key from another and opens
-- nothing. No row: nothing was sealed yet, and no service of this version started.
CREATE TABLE master_key (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  fingerprint bytea NOT NULL
);

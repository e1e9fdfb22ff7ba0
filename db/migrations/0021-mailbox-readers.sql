-- The process that reads a mailbox over IMAP. until: the end of its lease, unless it renews it.
CREATE TABLE mailbox_readers (
  mailbox_id uuid PRIMARY KEY,
  holder uuid NOT NULL,
  until timestamptz(3) NOT NULL
);

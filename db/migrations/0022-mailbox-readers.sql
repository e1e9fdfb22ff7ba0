-- The process that reads a mailbox over IMAP. until: the end of its lease, unless it renews it. failing_since, error: why the
-- mailbox cannot be read, and since when; null while it can.
CREATE TABLE mailbox_readers (
  mailbox_id uuid PRIMARY KEY,
  holder uuid NOT NULL,
  until timestamptz(3) NOT NULL,
  failing_since timestamptz(3),
  error text
);

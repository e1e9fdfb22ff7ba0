-- From which mailbox and to which address a mail was sent last: a bounce must name both.
ALTER TABLE mail_outgoing ADD COLUMN mailbox_id uuid, ADD COLUMN address text;

-- The mail that a received bounce is about.
ALTER TABLE mail_messages ADD COLUMN mail_id uuid;

-- Mails of which a bounce says that they were not delivered. error: status and diagnostic text of the bounce. The next attempt
-- deletes the row.
CREATE TABLE mail_bounces (
  mail_id uuid PRIMARY KEY REFERENCES mail_outgoing (id) ON DELETE CASCADE,
  at timestamptz(3) NOT NULL,
  error text NOT NULL
);

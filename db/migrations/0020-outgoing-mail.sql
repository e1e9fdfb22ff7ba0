-- Mails to users: waiting, sent, given up (FAILED), or about nothing that the user may see (DROPPED). The id is that of the first
-- notification; Message-ID is made of it, so that a mail that is sent twice after a crash has one. object_id and comment_id: what a
-- mail about one notification is about. next_at: the next attempt, or the end of the lease of a running one.
CREATE TABLE mail_outgoing (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL,
  notification_ids uuid[] NOT NULL,
  object_id uuid,
  comment_id uuid,
  status text NOT NULL CHECK (status IN ('PENDING', 'SENT', 'FAILED', 'DROPPED')),
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamptz(3) NOT NULL,
  next_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  error text
);
CREATE INDEX mail_outgoing_next ON mail_outgoing (next_at) WHERE status = 'PENDING';
CREATE INDEX mail_outgoing_age ON mail_outgoing (due_at);
CREATE INDEX mail_outgoing_failed ON mail_outgoing (due_at) WHERE status = 'FAILED';

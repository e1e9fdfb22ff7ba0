-- A record and a user to whom mail about it was sent. The handle stands for both in the address of replies, whose local part has
-- 64 characters: 40 bits, as src/domain/mail/reply-token.ts writes them.
CREATE TABLE mail_threads (
  handle bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 1099511627775) PRIMARY KEY,
  object_id uuid NOT NULL,
  user_id uuid NOT NULL,
  CONSTRAINT mail_threads_pair UNIQUE (object_id, user_id)
);

-- Received messages: what they became, or why they were not used. message_key is a hash of sender and message id. The message as
-- it was received (sha256, size) is kept while it can be tried again; trusted: whether the server that handed it in may say whom
-- it authenticated. detail: the error of a refused message.
CREATE TABLE mail_messages (
  id uuid PRIMARY KEY,
  mailbox_id uuid NOT NULL,
  message_key text NOT NULL,
  state text NOT NULL CHECK (state IN ('USED', 'LISTED')),
  reason text,
  detail jsonb,
  at timestamptz(3) NOT NULL,
  sender text,
  subject text NOT NULL,
  object_id uuid,
  comment_id uuid,
  sha256 text REFERENCES blobs (sha256),
  size integer NOT NULL,
  trusted boolean NOT NULL,
  CONSTRAINT mail_messages_reason CHECK ((state = 'LISTED') = (reason IS NOT NULL)),
  CONSTRAINT mail_messages_kept CHECK ((state = 'LISTED') = (sha256 IS NOT NULL))
);
-- A message has one effect. Messages that were not used do not keep a later one with the same key from being used.
CREATE UNIQUE INDEX mail_messages_once ON mail_messages (mailbox_id, message_key) WHERE state = 'USED';
CREATE UNIQUE INDEX mail_messages_listed_once ON mail_messages (mailbox_id, message_key, sha256) WHERE state = 'LISTED';
CREATE INDEX mail_messages_newest ON mail_messages (at DESC, id DESC);
CREATE INDEX mail_messages_listed ON mail_messages (at DESC, id DESC) WHERE state = 'LISTED';
CREATE INDEX mail_messages_content ON mail_messages (sha256) WHERE sha256 IS NOT NULL;

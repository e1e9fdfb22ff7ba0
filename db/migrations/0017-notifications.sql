-- Notifications of users about records. A background task follows the places of the journal and makes them after commit, so that
-- changes of records do not wait for them.

-- Progress of following the places. The process that makes notifications locks this row. after_user: the recipients up to which
-- the event at the next place is done. Events of before the upgrade, up to after_seq of the journal, make none.
CREATE TABLE notification_making (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  place bigint NOT NULL,
  after_user uuid,
  after_seq bigint NOT NULL
);
INSERT INTO notification_making (place, after_seq)
SELECT coalesce((SELECT max(place) FROM journal_places), 0), coalesce((SELECT max(seq) FROM journal), 0);

-- Transactions of imports whose definition notifies. Several calls can share a transaction, so the call is named, too.
CREATE TABLE notification_imports (
  txid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  correlation_id text NOT NULL,
  at timestamptz(3) NOT NULL,
  PRIMARY KEY (txid, correlation_id)
);

CREATE TABLE notification_watchers (
  object_id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (object_id, user_id)
);
CREATE INDEX notification_watchers_user ON notification_watchers (user_id);

-- Progress of removing the watches of users who may no longer read the record. versions: the versions of rights and configuration
-- under which all watches were judged; target: those of an unfinished pass, which has come to after_user.
CREATE TABLE notification_watch_check (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  versions text,
  target text,
  after_user uuid
);
INSERT INTO notification_watch_check DEFAULT VALUES;

-- What a user chose. choices: kind → {console, mail}; kinds that are missing have their defaults. Quiet hours are local times in
-- the time zone of the user, as HH:MM.
CREATE TABLE notification_settings (
  user_id uuid PRIMARY KEY,
  choices jsonb NOT NULL DEFAULT '{}',
  quiet_from text CHECK (quiet_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  quiet_to text CHECK (quiet_to ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT notification_settings_quiet CHECK ((quiet_from IS NULL) = (quiet_to IS NULL))
);

-- fields: stored codes of the changed fields, of which the user must be able to read one; null if the event is not about fields.
-- in_console: whether the user chose the console for this kind.
CREATE TABLE notifications (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  place bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('assigned', 'comment', 'mention', 'state', 'sla', 'rule', 'watch')),
  object_id uuid NOT NULL,
  comment_id uuid,
  actor_id uuid,
  fields text[],
  in_console boolean NOT NULL,
  at timestamptz(3) NOT NULL,
  read_at timestamptz(3),
  CONSTRAINT notifications_once UNIQUE (user_id, event_id)
);
CREATE UNIQUE INDEX notifications_comment ON notifications (user_id, comment_id) WHERE comment_id IS NOT NULL;
CREATE INDEX notifications_list ON notifications (user_id, place DESC) WHERE in_console;
CREATE INDEX notifications_unread ON notifications (user_id, place DESC) WHERE in_console AND read_at IS NULL;
CREATE INDEX notifications_place ON notifications (place);
CREATE INDEX notifications_age ON notifications (at);

-- Mails to send, one for each notification. Those of one user with the same batch are one mail, and so are digests that are due
-- at the same time. The sender judges the rights again and deletes the row.
CREATE TABLE notification_mails (
  notification_id uuid PRIMARY KEY,
  user_id uuid NOT NULL,
  kind text NOT NULL,
  is_digest boolean NOT NULL,
  batch text,
  due_at timestamptz(3) NOT NULL
);
CREATE INDEX notification_mails_due ON notification_mails (due_at, user_id);

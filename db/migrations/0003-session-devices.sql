-- What the owner of a session sees of it: the browser, the address of the last use, and when that was (docs/spec/access.md).
-- Null for sessions of the previous version. `last_seen_at` is written in the background, at most once a minute.
ALTER TABLE sessions ADD COLUMN user_agent text, ADD COLUMN address text, ADD COLUMN last_seen_at timestamptz(3);

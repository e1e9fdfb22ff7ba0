-- Attempts to sign in, counted before the password is verified. key: a hash of what is counted (a login, an address, or a login
-- together with an address or device). Not logged: after a crash every count starts again.
-- The columns failed_sign_ins and locked_until of users are not used any more; they stay for processes of the version before.
CREATE UNLOGGED TABLE sign_in_attempts (
  key bytea PRIMARY KEY,
  attempts integer NOT NULL,
  blocked_until timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50);

CREATE INDEX sign_in_attempts_updated ON sign_in_attempts (updated_at);

-- From where somebody signed in before. place: a hash of an address, or of the id in a device's cookie.
CREATE TABLE sign_in_places (
  user_id uuid NOT NULL REFERENCES users (id),
  place bytea NOT NULL,
  last_at timestamptz(3) NOT NULL,
  PRIMARY KEY (user_id, place)
);

CREATE INDEX sign_in_places_last ON sign_in_places (last_at);

-- Queues of the console: saved ways to look at records, one's own or for everybody.
CREATE TABLE desk_queues (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL REFERENCES users (id),
  name text NOT NULL,
  shared boolean NOT NULL,
  definition jsonb NOT NULL,
  revision integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
);
CREATE INDEX desk_queues_own ON desk_queues (owner_id);
CREATE INDEX desk_queues_shared ON desk_queues (name) WHERE shared;

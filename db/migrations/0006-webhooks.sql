-- Signing secrets and outgoing webhooks. Subscriptions themselves are configuration items (section `webhooks`).

-- Values of signing secrets, sealed with the master key. `expires_at` is null for the value in force; a value that a rotation
-- replaced goes on signing beside it until then.
CREATE TABLE signing_secret_values (
  secret_id uuid NOT NULL REFERENCES config_items (id),
  version integer NOT NULL,
  sealed bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3),
  PRIMARY KEY (secret_id, version)
);

-- When a subscription was enabled, and what it took then: an event makes a delivery for each subscription in whose period it
-- lies. The period without an end is the present one; a subscription without such a period is disabled or archived.
CREATE TABLE webhook_periods (
  id uuid PRIMARY KEY,
  subscription_id uuid NOT NULL REFERENCES config_items (id),
  from_at timestamptz(3) NOT NULL,
  until_at timestamptz(3),
  event_types text[] NOT NULL,
  max_attempts integer NOT NULL,
  base_delay_ms integer NOT NULL
);
CREATE INDEX webhook_periods_of ON webhook_periods (subscription_id, from_at);
CREATE INDEX webhook_periods_open ON webhook_periods (subscription_id) WHERE until_at IS NULL;

-- One row per event and subscription. `due_at` is when the next attempt may begin; while one is under way it is when its lease
-- ends and another process may repeat it. `about` holds the ids that the event names beside the record.
CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY,
  subscription_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  object_id uuid,
  event_at timestamptz(3) NOT NULL,
  about jsonb NOT NULL,
  status text NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'DELIVERED', 'FAILED', 'SKIPPED')),
  attempt_count integer NOT NULL DEFAULT 0,
  max_attempts integer NOT NULL,
  base_delay_ms integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  due_at timestamptz(3) NOT NULL,
  lease uuid,
  finished_at timestamptz(3),
  error text,
  CONSTRAINT webhook_deliveries_once UNIQUE (event_id, subscription_id),
  CHECK (attempt_count <= max_attempts)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (subscription_id, due_at, id) WHERE status = 'PENDING';
CREATE INDEX webhook_deliveries_of ON webhook_deliveries (subscription_id, id);

CREATE TABLE webhook_attempts (
  delivery_id uuid NOT NULL,
  number integer NOT NULL,
  at timestamptz(3) NOT NULL,
  -- Null when no answer came; `error` then says why.
  status integer,
  duration_ms integer NOT NULL,
  body_excerpt text,
  error text,
  PRIMARY KEY (delivery_id, number)
);

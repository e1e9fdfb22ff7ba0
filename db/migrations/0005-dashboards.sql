-- Dashboards that users made. Those of the configuration are in config_items.
CREATE TABLE report_dashboards (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL REFERENCES users (id),
  name text NOT NULL,
  tiles jsonb NOT NULL,
  -- Ids of roles and groups. The dashboard is private if both are empty.
  shared_roles uuid[] NOT NULL DEFAULT '{}',
  shared_groups uuid[] NOT NULL DEFAULT '{}',
  revision integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
);
CREATE INDEX report_dashboards_own ON report_dashboards (owner_id);
CREATE INDEX report_dashboards_shared ON report_dashboards (name) WHERE shared_roles <> '{}' OR shared_groups <> '{}';

-- The history of the configuration outside users, groups and units. A version holds the items that changed in it, with their
-- whole definition; an item at a version is its newest row up to that version. The present configuration is the first version.
-- The previous version of the service writes no rows here: docket doctor --deep names items that it changed.
CREATE TABLE config_versions (
  -- The value of cache_versions.config from this change on.
  version bigint PRIMARY KEY,
  changed_at timestamptz(3) NOT NULL,
  -- Null for the service itself.
  changed_by uuid
);
CREATE TABLE config_item_versions (
  item_id uuid NOT NULL,
  version bigint NOT NULL REFERENCES config_versions (version),
  section text NOT NULL,
  code text NOT NULL,
  state text NOT NULL CHECK (state IN ('ACTIVE', 'ARCHIVED')),
  definition jsonb NOT NULL,
  PRIMARY KEY (item_id, version)
);
CREATE INDEX config_item_versions_by_version ON config_item_versions (version);
INSERT INTO config_versions (version, changed_at) SELECT config, now() FROM cache_versions;
INSERT INTO config_item_versions (item_id, version, section, code, state, definition)
SELECT i.id, c.config, i.section, i.code, i.state, i.definition FROM config_items i, cache_versions c;

-- Codes that an item of the configuration had before it was renamed. They cannot be used again in its section.
ALTER TABLE config_items ADD COLUMN former_codes text[] NOT NULL DEFAULT '{}';

-- States that were removed from their workflow. No record may enter one, also in a process that still has the old configuration.
CREATE TABLE removed_states (
  id uuid NOT NULL,
  CONSTRAINT removed_states_pkey PRIMARY KEY (id)
);

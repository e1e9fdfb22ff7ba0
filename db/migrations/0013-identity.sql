-- People, groups and units change by compare-and-set: whoever changes one says which revision they saw.
ALTER TABLE users ADD COLUMN revision integer NOT NULL DEFAULT 1;
ALTER TABLE groups ADD COLUMN revision integer NOT NULL DEFAULT 1;
ALTER TABLE org_units ADD COLUMN revision integer NOT NULL DEFAULT 1;

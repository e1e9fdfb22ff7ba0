-- Who changed an item of the configuration last; null for the service itself. The previous version of the service does not write
-- it: an item that it creates has none, and one that it changes keeps the author of the change before, until the next change.
-- The authors are read from the journal first, so that the table is locked only for the update.
CREATE TEMPORARY TABLE configuration_authors ON COMMIT DROP AS
SELECT DISTINCT ON (subject) subject, actor_id FROM journal
WHERE object_id IS NULL AND type = 'ConfigChanged' ORDER BY subject, seq DESC;
ALTER TABLE config_items ADD COLUMN updated_by uuid;
UPDATE config_items i SET updated_by = a.actor_id
FROM configuration_authors a WHERE a.subject = i.section || ':' || i.code;

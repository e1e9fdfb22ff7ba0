-- Who changed an item of the configuration last; null for the service itself, and while the previous version of the service runs.
ALTER TABLE config_items ADD COLUMN updated_by uuid;
UPDATE config_items i SET updated_by = j.actor_id
FROM (
  SELECT DISTINCT ON (subject) subject, actor_id FROM journal
  WHERE object_id IS NULL AND type = 'ConfigChanged' ORDER BY subject, seq DESC
) j
WHERE j.subject = i.section || ':' || i.code;

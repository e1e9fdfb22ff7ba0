-- Who changed a user, group or unit last; null for the service itself. The previous version of the service does not write it: a
-- row that it creates has none, and one that it changes keeps the author of the change before, until the next change.
-- The authors are read from the journal first, so that the tables are locked only for the update.
CREATE TEMPORARY TABLE identity_authors ON COMMIT DROP AS
SELECT DISTINCT ON (subject) subject, actor_id FROM journal
WHERE object_id IS NULL AND type IN ('UserCreated', 'UserChanged', 'UserArchived', 'UserRestored',
  'GroupCreated', 'GroupChanged', 'GroupArchived', 'GroupRestored',
  'OrgUnitCreated', 'OrgUnitChanged', 'OrgUnitArchived', 'OrgUnitRestored')
ORDER BY subject, seq DESC;
ALTER TABLE users ADD COLUMN updated_by uuid;
ALTER TABLE groups ADD COLUMN updated_by uuid;
ALTER TABLE org_units ADD COLUMN updated_by uuid;
UPDATE users u SET updated_by = a.actor_id FROM identity_authors a WHERE a.subject = 'user:' || u.id;
UPDATE groups g SET updated_by = a.actor_id FROM identity_authors a WHERE a.subject = 'group:' || g.id;
UPDATE org_units o SET updated_by = a.actor_id FROM identity_authors a WHERE a.subject = 'orgUnit:' || o.id;

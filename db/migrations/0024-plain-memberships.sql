-- A membership that gives no role changes the rights of one user only. memberships: how many of the rights versions are such
-- memberships; recent_members: the users of the latest of them, newest last.
ALTER TABLE cache_versions ADD COLUMN memberships bigint NOT NULL DEFAULT 0,
  ADD COLUMN recent_members uuid[] NOT NULL DEFAULT '{}';

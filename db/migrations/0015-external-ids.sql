-- An external id names one user: sign-in by OpenID Connect finds people by it. Archived users keep theirs.
DO $$
DECLARE
  shared text;
BEGIN
  SELECT string_agg(format('%L (%s)', d.external_id, d.logins), '; ') INTO shared
  FROM (SELECT external_id, string_agg(login, ', ' ORDER BY login) AS logins FROM users
    WHERE external_id IS NOT NULL GROUP BY external_id HAVING count(*) > 1 ORDER BY external_id LIMIT 10) d;
  IF shared IS NOT NULL THEN
    RAISE EXCEPTION 'Several users have the same external id: %. Give each its own, or clear it, with the version before this one; then migrate again.', shared;
  END IF;
END
$$;

-- The table is small, and its writes are rare: building the index takes milliseconds.
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX users_external_id ON users (external_id);

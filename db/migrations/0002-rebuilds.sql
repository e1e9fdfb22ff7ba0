-- One table for the rebuilds of derived data. Those that run are copied, so that they continue.
--
-- report_rebuild, search_rebuild and rule_timer_scans are not used any more. Processes of the version before use them until they are
-- replaced: a rebuild that both continue is done twice, which changes nothing. The version after this one drops them.

-- name: what is rebuilt. version: of what it is computed by; 0 where there is no such version. position: where the next step continues;
-- null at the beginning. done: rows that were handled. next_at: when the next step may run, -infinity for at once; null: not running.
CREATE TABLE rebuilds (
  name text PRIMARY KEY,
  version bigint NOT NULL DEFAULT 0,
  position jsonb,
  done bigint NOT NULL DEFAULT 0,
  started_at timestamptz(3) NOT NULL,
  next_at timestamptz(3)
);

CREATE TRIGGER rebuild_of_facts_begins AFTER INSERT OR UPDATE OF started_at ON rebuilds
  FOR EACH ROW WHEN (NEW.name = 'report-facts') EXECUTE FUNCTION docket_forget_report_cells();

INSERT INTO rebuilds (name, position, done, started_at, next_at)
SELECT 'report-facts', to_jsonb(after_id), done, started_at, '-infinity'::timestamptz FROM report_rebuild
UNION ALL
SELECT 'search', jsonb_build_object('part', part, 'after', after_id), done, started_at, '-infinity' FROM search_rebuild;

INSERT INTO rebuilds (name, version, position, started_at, next_at)
SELECT 'rule-timers/' || rule_id, rule_version, jsonb_build_object('pass', pass + 1, 'after', after_id), begun_at,
  CASE pass WHEN 0 THEN '-infinity'::timestamptz WHEN 1 THEN begun_at + interval '60 seconds' END
FROM rule_timer_scans;

-- Counting for reports is a consumer of the journal. report_counting is not used any more; the version after this one drops it.

-- What was counted is counted again: its position is a snapshot, which has no place. Reports read the records until then.
DELETE FROM report_counted_types;
INSERT INTO journal_consumers (name, place) SELECT 'report-cells', place FROM journal_placing;

-- Waits for the process that counts, so that nothing is counted by facts of before.
CREATE OR REPLACE FUNCTION docket_forget_report_cells() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE report_counting SET done = NULL;
  PERFORM FROM journal_consumers WHERE name = 'report-cells' FOR UPDATE;
  DELETE FROM report_counted_types;
  RETURN NULL;
END
$$;

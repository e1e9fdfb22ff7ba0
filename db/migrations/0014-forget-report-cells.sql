-- A rebuild of facts changes them without the journal, so the counts made from them become invalid, also if a tool of an older
-- version starts the rebuild. Waits for a pass of counting that is running.
CREATE FUNCTION docket_forget_report_cells() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE report_counting SET done = NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER report_rebuild_begins AFTER INSERT ON report_rebuild
FOR EACH ROW EXECUTE FUNCTION docket_forget_report_cells();

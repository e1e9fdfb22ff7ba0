-- The revision of the record after the undo of a row: an undo that was interrupted goes on from what it left.
ALTER TABLE import_rows ADD COLUMN undo_revision integer;

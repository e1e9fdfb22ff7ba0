-- fields: names in changes. Reads of a record's past need the names of all changes, and the values of few.
-- Null for rows of earlier versions: their names are read from changes.
ALTER TABLE journal ADD COLUMN fields text[];

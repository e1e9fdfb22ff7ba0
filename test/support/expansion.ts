/** An example of what a migration may do while processes of the previous version run (ADR 0015). */
export const EXPANSION = `
ALTER TABLE objects ADD COLUMN tried text;
ALTER TABLE users ADD COLUMN tried integer NOT NULL DEFAULT 0;
ALTER TABLE journal ADD COLUMN tried text;
ALTER TABLE comments ADD CONSTRAINT tried CHECK (revision > 0) NOT VALID;
CREATE TABLE tried (id uuid PRIMARY KEY, name text NOT NULL);
CREATE INDEX tried_name ON tried (name);
`;

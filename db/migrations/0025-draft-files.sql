-- Files that wait for a comment. Only their uploaders see them; a comment moves them to attachments, and after a day they are removed.
CREATE TABLE attachment_drafts (
  id uuid PRIMARY KEY,
  object_id uuid NOT NULL,
  original_filename text NOT NULL,
  media_type text NOT NULL,
  size integer NOT NULL CHECK (size > 0),
  sha256 text NOT NULL REFERENCES blobs (sha256),
  created_at timestamptz NOT NULL,
  created_by uuid NOT NULL
);
CREATE INDEX attachment_drafts_content ON attachment_drafts (sha256);
CREATE INDEX attachment_drafts_of_user ON attachment_drafts (object_id, created_by);
CREATE INDEX attachment_drafts_by_age ON attachment_drafts (created_at);

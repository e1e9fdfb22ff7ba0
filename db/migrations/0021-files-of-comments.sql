-- A file that came with a comment is seen by those who may see the comment. Null: by everybody who reads the record.
ALTER TABLE attachments ADD COLUMN comment_id uuid;

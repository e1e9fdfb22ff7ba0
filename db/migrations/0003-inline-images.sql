-- Images that stand in rich text of a record, its history included: they are kept for as long as the record.
CREATE TABLE inline_images (
  object_id uuid NOT NULL,
  sha256 text NOT NULL REFERENCES blobs (sha256),
  media_type text NOT NULL,
  size integer NOT NULL,
  PRIMARY KEY (object_id, sha256)
);
CREATE INDEX inline_images_content ON inline_images (sha256);

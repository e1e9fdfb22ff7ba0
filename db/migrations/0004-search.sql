-- What search reads: one narrow row per record and per comment, written in the change's own transaction.
-- words: lexemes with positions and zones (A to D). A lexeme of a field that some reading grant hides begins with that field's
-- label (U+0001, field code, U+0001), a record's number with U+0002; all others are words of text that no reading grant hides.
-- form: how the row was made (type version, which fields are labelled, analysis); rows of another form are made anew.
-- size: number of words without label, for the length norm.
CREATE TABLE search_records (
  id uuid PRIMARY KEY,
  form integer NOT NULL,
  size integer NOT NULL,
  words tsvector NOT NULL
);
ALTER TABLE search_records ALTER COLUMN words SET STATISTICS 500;
CREATE INDEX search_records_words ON search_records USING gin (words) WITH (gin_pending_list_limit = 1024);
CREATE INDEX search_records_form ON search_records (form, id);

CREATE TABLE search_comments (
  id uuid PRIMARY KEY,
  object_id uuid NOT NULL,
  visibility text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  size integer NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX search_comments_words ON search_comments USING gin (words) WITH (gin_pending_list_limit = 1024);
CREATE INDEX search_comments_updated ON search_comments (updated_at DESC, id DESC);
CREATE INDEX search_comments_object ON search_comments (object_id, updated_at DESC);

-- The active version of an article in one locale.
CREATE TABLE search_articles (
  id uuid PRIMARY KEY,
  article_id uuid NOT NULL,
  title text NOT NULL,
  summary text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  size integer NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX search_articles_words ON search_articles USING gin (words);

-- Every word that stands somewhere, by label: where typing errors are looked up. Learnt from `search_unlearned` in the background;
-- what is not learnt yet is read there. A word that stands nowhere any more does no harm: it finds nothing.
CREATE TABLE search_words (
  label text COLLATE "C" NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (label, word)
);
CREATE INDEX search_words_backwards ON search_words (label, reverse(word) COLLATE "C");
CREATE TABLE search_unlearned (
  id uuid NOT NULL
);

-- How far the rebuilding of the projection is; no row when none is under way.
CREATE TABLE search_rebuild (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  part text NOT NULL DEFAULT 'records' CHECK (part IN ('records', 'comments', 'articles')),
  after_id uuid,
  done bigint NOT NULL DEFAULT 0,
  started_at timestamptz(3) NOT NULL
);
-- Records from before this table was there.
INSERT INTO search_rebuild (started_at) SELECT now() WHERE EXISTS (SELECT 1 FROM objects);

CREATE INDEX objects_updated ON objects (updated_at DESC, id DESC) WHERE state = 'ACTIVE';
-- Matches of words are brought into order by this alone, without a look at the records themselves.
CREATE INDEX objects_order ON objects (id) INCLUDE (updated_at, created_at) WHERE state = 'ACTIVE';

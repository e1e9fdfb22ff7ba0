-- The knowledge base: articles, and their versions per locale. A version is a draft until it is published.
-- revision: raised by every change of any version of the article, and the condition of each such change.
CREATE TABLE kb_articles (
  id uuid PRIMARY KEY,
  base_id uuid NOT NULL REFERENCES config_items (id),
  code text NOT NULL,
  revision integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  created_by uuid,
  CONSTRAINT kb_articles_code UNIQUE (base_id, code)
);

-- document: the text as a ProseMirror document; body: the same as Markdown.
-- audiences: for whom it is, as it was said; admits: the ids of those people, groups and units, the nil UUID for everyone.
-- material: made anew by every change of the version, so that whoever archives can say what they looked at.
-- draft_locale and active_locale hold the locale while the version is a draft or active: that there is one of each at most is
-- decided by the database. They are checked at the end of a statement, since one statement publishes and archives.
CREATE TABLE kb_versions (
  id uuid PRIMARY KEY,
  article_id uuid NOT NULL REFERENCES kb_articles (id),
  section_id uuid NOT NULL,
  locale text NOT NULL,
  state text NOT NULL CHECK (state IN ('DRAFT', 'ACTIVE', 'ARCHIVED')),
  draft_locale text CHECK (draft_locale IS NOT DISTINCT FROM CASE WHEN state = 'DRAFT' THEN locale END),
  active_locale text CHECK (active_locale IS NOT DISTINCT FROM CASE WHEN state = 'ACTIVE' THEN locale END),
  title text NOT NULL,
  summary text,
  tags text[] NOT NULL,
  responsible_id uuid,
  visibility text NOT NULL CHECK (visibility IN ('internal', 'portal')),
  document jsonb NOT NULL,
  body text NOT NULL,
  audiences jsonb NOT NULL DEFAULT '[]',
  admits uuid[] NOT NULL DEFAULT '{}',
  material uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL,
  created_by uuid,
  updated_at timestamptz(3) NOT NULL,
  updated_by uuid,
  published_at timestamptz(3),
  published_by uuid,
  archived_at timestamptz(3),
  CONSTRAINT kb_versions_draft UNIQUE (article_id, draft_locale) DEFERRABLE INITIALLY IMMEDIATE,
  CONSTRAINT kb_versions_active UNIQUE (article_id, active_locale) DEFERRABLE INITIALLY IMMEDIATE
);
CREATE INDEX kb_versions_by_article ON kb_versions (article_id, locale);
CREATE INDEX kb_versions_newest ON kb_versions (state, updated_at DESC, id DESC);

-- Images that stand in a version of the article, or stood in a draft of it: they are kept for as long as the article.
CREATE TABLE kb_images (
  article_id uuid NOT NULL,
  sha256 text NOT NULL REFERENCES blobs (sha256),
  media_type text NOT NULL,
  size integer NOT NULL,
  PRIMARY KEY (article_id, sha256)
);
CREATE INDEX kb_images_content ON kb_images (sha256);

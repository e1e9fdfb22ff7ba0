-- Whether an article helped a user. A user has one vote per article and may change it.
CREATE TABLE kb_votes (
  article_id uuid NOT NULL,
  user_id uuid NOT NULL,
  helpful boolean NOT NULL,
  voted_at timestamptz(3) NOT NULL,
  PRIMARY KEY (article_id, user_id)
);

-- The days (UTC) on which a user opened an article. Opening it again on the same day writes nothing. There is no foreign key: its check
-- would lock the row of the article at each view.
CREATE TABLE kb_views (
  article_id uuid NOT NULL,
  day date NOT NULL,
  user_id uuid NOT NULL,
  PRIMARY KEY (article_id, day, user_id)
);
-- Popular articles are counted from the views of the last months.
CREATE INDEX kb_views_by_day ON kb_views (day, article_id);

-- When somebody should check the article again; null if no date is set.
ALTER TABLE kb_articles ADD COLUMN review_on date;

-- Views of an article on a day (UTC). A background task moves the views of finished days from kb_views to here and removes days
-- that no longer count, so that popular articles are found without reading single views.
CREATE TABLE kb_view_days (
  article_id uuid NOT NULL,
  day date NOT NULL,
  views integer NOT NULL,
  PRIMARY KEY (article_id, day)
);
CREATE INDEX kb_view_days_by_day ON kb_view_days (day);

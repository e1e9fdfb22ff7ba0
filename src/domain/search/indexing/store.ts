/** Planned writes to the index, in the statement of the change. */
import type { CommentVisibility } from '../../../contract/comment-visibility.ts';
import sql, { type Sql } from 'sql-template-tag';
import { NUMBER_FOLDING } from '../../../lib/filter-fields.ts';
import { WRITTEN_NOW } from '../../../platform/journal/positions.ts';
import type { TableWrite } from '../../../platform/unit-of-work/context.ts';

export interface RecordRow {
  id: string;
  profile_id: number;
  size: number;
  words: string;
}

const PUT_RECORD = sql`ON CONFLICT (id) DO UPDATE SET profile_id = EXCLUDED.profile_id, size = EXCLUDED.size, words = EXCLUDED.words`;

/** Rows of records whose number is known, and of records without a number. */
const RECORD_COLUMNS = { id: 'uuid', profile_id: 'integer', size: 'integer', words: 'tsvector' } as const;

export const putRecord: TableWrite<RecordRow> = {
  name: 'search_put_record',
  guard: false,
  records: ({ id }) => [id],
  frequent: true,
  columns: RECORD_COLUMNS,
  sql: (rows: Sql) => sql`
    INSERT INTO search_records (id, profile_id, size, words)
    SELECT id, profile_id, size, words FROM ${rows}
    ORDER BY id ${PUT_RECORD}`,
};

/**
 * Rows of new records. Their number is assigned in the same statement by `insert_object` of the objects module and added to the
 * words as text.
 */
export const putNumbered: TableWrite<RecordRow> = {
  name: 'search_put_numbered',
  guard: false,
  records: ({ id }) => [id],
  frequent: true,
  columns: { ...RECORD_COLUMNS, words: 'text' },
  sql: (rows: Sql) => sql`
    INSERT INTO search_records (id, profile_id, size, words)
    SELECT r.id, r.profile_id, r.size, (r.words || CASE WHEN o.returned_value IS NULL THEN ''
      ELSE ' ''' || chr(2) || translate(o.returned_value, ${NUMBER_FOLDING.from}, ${NUMBER_FOLDING.to}) || ''':1A' END)::tsvector
    FROM ${rows}
    JOIN insert_object o ON o.id = r.id
    ORDER BY r.id ${PUT_RECORD}`,
};

export interface CommentRow {
  id: string;
  object_id: string;
  visibility: CommentVisibility;
  at: string;
  size: number;
  words: string;
}

export const putComment: TableWrite<CommentRow> = {
  name: 'search_put_comment',
  guard: false,
  records: ({ object_id }) => [object_id],
  frequent: true,
  columns: {
    id: 'uuid',
    object_id: 'uuid',
    visibility: 'text',
    at: 'timestamptz',
    size: 'integer',
    words: 'tsvector',
  },
  sql: (rows: Sql) => sql`
    INSERT INTO search_comments (id, object_id, visibility, updated_at, size, words)
    SELECT id, object_id, visibility, at, size, words
    FROM ${rows}
    ORDER BY id
    ON CONFLICT (id) DO UPDATE SET visibility = EXCLUDED.visibility, updated_at = EXCLUDED.updated_at, size = EXCLUDED.size,
      words = EXCLUDED.words`,
};

export const dropComment: TableWrite<{ id: string }> = {
  name: 'search_drop_comment',
  guard: false,
  records: ({ id }) => [id],
  sql: (rows: Sql) => sql`
    DELETE FROM search_comments WHERE id IN (SELECT id FROM jsonb_to_recordset(${rows}) AS r (id uuid))`,
};

export interface ArticleRow {
  /** Id of the version. */
  id: string;
  article_id: string;
  title: string;
  summary: string;
  at: string;
  size: number;
  words: string;
}

export const putArticle: TableWrite<ArticleRow> = {
  name: 'search_put_article',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO search_articles (id, article_id, title, summary, updated_at, size, words)
    SELECT id, article_id, title, summary, at, size, words
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, article_id uuid, title text, summary text, at timestamptz, size integer,
      words tsvector)
    ON CONFLICT (id) DO UPDATE SET title = EXCLUDED.title, summary = EXCLUDED.summary, updated_at = EXCLUDED.updated_at,
      size = EXCLUDED.size, words = EXCLUDED.words`,
};

export const dropArticle: TableWrite<{ id: string }> = {
  name: 'search_drop_article',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM search_articles WHERE id IN (SELECT id FROM jsonb_to_recordset(${rows}) AS r (id uuid))`,
};

/**
 * Records whose row was written again without a change of the record. The index in memory follows the journal, which has no row
 * for that. A later transaction replaces an earlier one: whoever has not seen that has not seen this.
 */
export const rewritten: TableWrite<{ id: string }> = {
  name: 'search_rewritten_records',
  guard: false,
  records: ({ id }) => [id],
  frequent: true,
  columns: { id: 'uuid' },
  sql: (rows: Sql) => sql`INSERT INTO search_rewritten (object_id) SELECT id FROM ${rows} ORDER BY id
    ON CONFLICT (object_id) DO UPDATE SET ${WRITTEN_NOW}`,
};

/** Rows whose words are still to be added to the dictionary for typo correction. */
export const pendingWords: TableWrite<{ id: string }> = {
  name: 'search_pending_words_rows',
  guard: false,
  records: ({ id }) => [id],
  frequent: true,
  columns: { id: 'uuid' },
  sql: (rows: Sql) => sql`INSERT INTO search_pending_words (id) SELECT id FROM ${rows}`,
};

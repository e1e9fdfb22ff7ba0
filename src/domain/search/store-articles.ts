/**
 * What search asks of the rooms that keep articles and services. `app.ts` hands it in, so that no room needs to know the
 * other's inside: who keeps a thing says what it says and who may see it.
 */
import type { Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';

export interface ArticleText {
  articleId: string;
  title: string;
  summary: string;
  tags: readonly string[];
  /** Plain text. */
  body: string;
  updatedAt: string;
}

export interface ArticleSource {
  /** The text of a version as it will stand after this unit; undefined when it is not (or no longer) active. */
  activeText(ctx: ReadContext, versionId: string): Promise<ArticleText | undefined>;
  /** Ids of active versions from `after` on, in order, for rebuilding. */
  activeIds(ctx: ReadContext, after: string | null, limit: number): Promise<string[]>;
  /** The predicate that the caller may read the version whose id stands in `column`; null when they may read none. */
  visible(ctx: ReadContext, column: Sql): Sql | null;
}

/** A thing whose few texts are looked through where they are. */
export interface Listed {
  id: string;
  title: string;
  /** What it is found by beside the title. */
  texts: readonly string[];
  updatedAt: string;
}

export interface ServiceSource {
  /** The services that the caller's audience admits. */
  services(ctx: ReadContext): Promise<readonly Listed[]>;
}

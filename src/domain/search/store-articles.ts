/**
 * What search needs from the modules of articles and services. `app.ts` passes it in, so that search does not depend on these
 * modules; each module provides its texts and its access rules.
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
  /** The text of a version as it will be after this unit of work; undefined if the version is not active. */
  activeText(ctx: ReadContext, versionId: string): Promise<ArticleText | undefined>;
  /** Ids of active versions after `after`, in order, for a rebuild. */
  activeIds(ctx: ReadContext, after: string | null, limit: number): Promise<string[]>;
  /** @throws Fault RIGHT_MISSING */
  requireReader(ctx: ReadContext): void;
  /**
   * Predicate: the caller may read the version whose id is in `column`.
   *
   * @throws Fault RIGHT_MISSING
   */
  visible(ctx: ReadContext, column: Sql): Sql;
}

/** An item whose few texts are matched in memory. */
export interface Listed {
  id: string;
  title: string;
  /** Texts that are searched in addition to the title. */
  texts: readonly string[];
  updatedAt: string;
}

export interface ServiceSource {
  /** The services whose audience includes the caller. */
  services(ctx: ReadContext): Promise<readonly Listed[]>;
}

/** Word matches for lists of records: `q` of `GET /objects`, and of exports. */
import type { WordMatch } from '../objects/index.ts';
import { profileView } from './index-profile.ts';
import { findIds } from './hits.ts';
import type { SearchParts } from './parts.ts';
import { accessFilterFor } from './sources.ts';
import { synonymView } from './synonyms.ts';
import { numbersOf, termsOf } from './terms.ts';

/** Ids of records that match all words, or if there are none, some of them; newest first. */
export function wordMatch(parts: SearchParts): WordMatch {
  return async (ctx, { q, typeIds, state, workflowStateIds, limit, offset }) => {
    const accessFilter = await accessFilterFor(ctx, parts, typeIds);
    if (accessFilter === null) return [];
    const base = {
      state,
      workflowStateIds: workflowStateIds ?? null,
      filter: null,
      order: 'created_at' as const,
      memory: null,
    };
    const { statistics, analysis } = parts;
    const terms = ctx.config.get(synonymView).of(termsOf(analysis, q));
    const numbers = numbersOf(analysis, q, ctx.config.get(profileView).prefixes);
    const question = {
      ctx,
      statistics,
      analysis,
      accessFilter,
      base,
      q,
      terms,
      numbers,
      comments: false,
      counted: 0,
      from: 0,
    };
    return await findIds(question, limit, offset);
  };
}

/** Word matches for lists of records: `q` of `GET /objects`, and of exports; and records offered while a user types. */
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { WordMatch } from '../objects/index.ts';
import { profileView } from './index-profile.ts';
import { findIds, namedIds } from './hits.ts';
import type { MatchSearch, Question } from './matches.ts';
import type { SearchParts } from './parts.ts';
import { accessFilterFor } from './sources.ts';
import type { AccessFilter } from './store-access-filter.ts';
import { synonymView } from './synonyms.ts';
import { besideNumbers, numbersOf, termsOf } from './terms.ts';

function questionOf(
  ctx: ReadContext,
  { statistics, analysis }: SearchParts,
  accessFilter: AccessFilter,
  q: string,
  base: MatchSearch['base'],
): Question {
  const numbers = numbersOf(analysis, q, ctx.config.get(profileView).numberings);
  const terms = besideNumbers(ctx.config.get(synonymView).of(termsOf(analysis, q)), numbers);
  return { ctx, statistics, analysis, accessFilter, base, q, terms, numbers, comments: false, counted: 0, from: 0 };
}

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
    return await findIds(questionOf(ctx, parts, accessFilter, q, base), limit, offset);
  };
}

/** Ids of records: first those whose number or title is the text, then those that match it, last updated first. */
export type Suggest = (ctx: ReadContext, text: string, limit: number) => Promise<string[]>;

export function suggestions(parts: SearchParts): Suggest {
  return async (ctx, text, limit) => {
    const accessFilter = await accessFilterFor(ctx, parts);
    if (accessFilter === null) return [];
    const base = { state: 'ACTIVE', workflowStateIds: null, filter: null, order: 'updated_at', memory: null } as const;
    const question = questionOf(ctx, parts, accessFilter, text, base);
    const named = await namedIds(question, limit);
    const others = named.length < limit ? await findIds(question, limit, 0) : [];
    return [...new Set([...named, ...others])].slice(0, limit);
  };
}

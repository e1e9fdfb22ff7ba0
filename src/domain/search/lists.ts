/** Word matches for lists of records: `q` of `GET /objects`, and of exports; and records offered while a user types. */
import { isActive } from '../../contract/state.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { WordMatch } from '../objects/index.ts';
import { areIndexed } from './filter.ts';
import { profileView } from './index-profile.ts';
import { findIds, namedIds, type Question } from './hits.ts';
import type { SearchParts } from './parts.ts';
import { accessFilterFor } from './sources.ts';
import type { AccessFilter } from './store-access-filter.ts';
import { synonymView } from './synonyms.ts';
import { besideNumbers, numbersOf, termsOf } from './terms.ts';

function questionOf(
  ctx: ReadContext,
  { analysis }: SearchParts,
  accessFilter: AccessFilter,
  q: string,
  base: Question['base'],
): Question {
  const numbers = numbersOf(analysis, q, ctx.config.get(profileView).numberings);
  const terms = besideNumbers(ctx.config.get(synonymView).of(termsOf(analysis, q)), numbers);
  return { ctx, analysis, accessFilter, base, q, terms, numbers, comments: false, counted: 0, from: 0 };
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
      indexed: isActive({ state }) && areIndexed(ctx, accessFilter.typeIds, null),
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
    const indexed = areIndexed(ctx, accessFilter.typeIds, null);
    const base = {
      state: 'ACTIVE' as const,
      workflowStateIds: null,
      filter: null,
      order: 'updated_at' as const,
      indexed,
      memory: null,
    };
    const question = questionOf(ctx, parts, accessFilter, text, base);
    const named = await namedIds(question, limit);
    const others = named.length < limit ? await findIds(question, limit, 0) : [];
    return [...new Set([...named, ...others])].slice(0, limit);
  };
}

/** Words in lists of records, and search for other rooms. */
import type { ReadContext } from '../../mechanisms/context.ts';
import type { WordMatch } from '../objects/door.ts';
import { findIds } from './hits.ts';
import type { SearchParts } from './parts.ts';
import { reachFor } from './sources.ts';
import { termsOf, wholeNumber } from './terms.ts';

/** `q` of `GET /objects`. */
export function wordMatch(parts: SearchParts): WordMatch {
  return async (ctx: ReadContext, { q, typeIds, state, workflowStateIds, limit, offset }) => {
    const reach = await reachFor(ctx, parts, typeIds);
    if (reach === null) return [];
    const base = { state, workflowStateIds: workflowStateIds ?? null, filter: null, order: 'created_at' as const };
    const question = {
      ctx,
      hints: parts.hints,
      reach,
      terms: termsOf(parts.analysis, q),
      number: wholeNumber(q),
      base,
    };
    return await findIds(question, limit, offset);
  };
}

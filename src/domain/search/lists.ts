/** Words in lists of records, and search for other rooms. */
import type { ReadContext } from '../../mechanisms/context.ts';
import type { WordMatch } from '../objects/door.ts';
import { findIds } from './hits.ts';
import type { SearchParts } from './parts.ts';
import { reachFor } from './sources.ts';
import { numbersOf, termsOf } from './terms.ts';

/** `q` of `GET /objects`. */
export function wordMatch(parts: SearchParts): WordMatch {
  return async (ctx: ReadContext, { q, typeIds, state, workflowStateIds, limit, offset }) => {
    const reach = await reachFor(ctx, parts, typeIds);
    if (reach === null) return [];
    const base = { state, workflowStateIds: workflowStateIds ?? null, filter: null, order: 'created_at' as const };
    const { hints, analysis } = parts;
    const [terms, numbers] = [termsOf(analysis, q), numbersOf(analysis, q)];
    const question = { ctx, hints, analysis, reach, base, q, terms, numbers, comments: false, counted: 0 };
    return await findIds(question, limit, offset);
  };
}

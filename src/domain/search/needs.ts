/** The words that a question needs (`memory/need.ts`), from its terms. `store-text-predicate.ts` is the same as SQL. Pure. */
import type { Operand } from './lexemes.ts';
import type { Need } from './memory/need.ts';
import { type Labels, type Numbers, type TermQuery, termQuery } from './terms.ts';

/** The word in a field that the caller may read on the record. */
function needTerm({ free, classes }: TermQuery): Need {
  const parts = [free, ...classes].map(({ matched }, index): Need => {
    return { kind: 'lexemes', operands: matched, within: index === 0 ? null : index - 1 };
  });
  return { kind: 'any', needs: parts };
}

/** All of the words; nothing if there are none. */
export function needAll(queries: readonly TermQuery[]): Need {
  return queries.length === 0 ? { kind: 'any', needs: [] } : { kind: 'all', needs: queries.map(needTerm) };
}

/** Any of the words. */
export function needAny(queries: readonly TermQuery[]): Need {
  return { kind: 'any', needs: queries.map(needTerm) };
}

/** Any of several combinations of words; each is a list of indexes. */
export function needCombination(combinations: readonly (readonly number[])[], queries: readonly TermQuery[]): Need {
  // Each word is one object, so that it is searched once for all combinations.
  const terms = queries.map(needTerm);
  return {
    kind: 'any',
    needs: combinations.map((indices) => ({ kind: 'all', needs: indices.flatMap((index) => terms[index] ?? []) })),
  };
}

/** Records with these numbers that also contain the rest of the question. */
export function needNumbers(numbers: Numbers, fieldTokens: Labels): Need {
  const number = (operand: Operand): Need => ({ kind: 'lexemes', operands: [operand], within: null });
  const rest = numbers.rest.map((term) => needTerm(termQuery(term, fieldTokens)));
  return { kind: 'all', needs: [...numbers.operands.map(number), ...rest] };
}

/** Records with exactly these numbers. */
export function needExactNumbers({ operands }: Numbers): Need {
  const exact = operands.map(({ lexeme }): Need => {
    return { kind: 'lexemes', operands: [{ lexeme, prefix: false }], within: null };
  });
  return { kind: 'all', needs: exact };
}

/** Quality of the results for the questions of a test collection. */
import { inParallel } from './caller.ts';
import type { TestCollection, Question } from './test-collections.ts';

const PLACES = 10;

export interface Quality {
  questions: number;
  /** Share of questions with the right answer among the first ten results. */
  recall: number;
  /** Mean of 1 / rank of the right answer; 0 after the tenth. */
  reciprocal: number;
}

/** @param search ids, best first; the record that the question was written in is skipped */
export async function measureRanking(
  set: TestCollection,
  atOnce: number,
  search: (q: string, self: string | undefined) => Promise<string[]>,
): Promise<Quality> {
  let found = 0;
  let reciprocal = 0;
  await inParallel(set.questions, atOnce, async ({ text, self, right }: Question) => {
    const ids = (await search(text, self)).filter((id) => id !== self);
    const place = ids.slice(0, PLACES).indexOf(right) + 1;
    if (place === 0) return;
    found++;
    reciprocal += 1 / place;
  });
  const questions = set.questions.length;
  return { questions, recall: found / questions, reciprocal: reciprocal / questions };
}

/**
 * Builds the index rows of records, comments and articles. Short texts are analysed in the event loop, long ones in a worker
 * thread.
 */
import { Fault } from '../../../lib/fault.ts';
import { type Analysis, makeAnalysis } from '../../../lib/words.ts';
import { type ThreadTask, threads } from '../../../platform/threads.ts';
import { plainText } from '../../metadata/index.ts';
import type { IndexProfile } from './profile.ts';
import { wordsOf } from './lexemes.ts';
import type { ArticleRow } from './store.ts';
import type { ArticleText } from '../store-texts.ts';

export interface Projected {
  /** The text of a `tsvector`. */
  words: string;
  /** Number of words without a field token. */
  size: number;
}

/** The texts of a row, and the maximum number of fields of the row. */
interface Texts {
  texts: readonly { text: string; zone: string; fieldToken: string; isTitle: boolean }[];
  most: number;
  number: string | null;
}

/** The word cache of this thread, and the caller in whose queue tasks for worker threads wait. */
export interface Analyst {
  analysis: Analysis;
  caller: string | null;
}

function analysed(analysis: Analysis, { texts, most, number }: Texts): Projected {
  const parts = texts.map(({ text, zone, fieldToken, isTitle }) => ({
    lexemes: analysis.indexLexemes(text),
    zone,
    fieldToken,
    title: isTitle ? text : undefined,
  }));
  return wordsOf(parts, most, number);
}

const IN_THREAD = makeAnalysis();

/** The size is the number of characters; the most expensive texts take about 4 microseconds per character. */
export const wordsTask: ThreadTask<Texts, Projected> = {
  name: 'search.words',
  inline: 4000,
  run: (texts) => analysed(IN_THREAD, texts),
};

/** @throws Fault OVERLOADED */
async function analyse({ analysis, caller }: Analyst, given: Texts): Promise<Projected> {
  const texts = given.texts.filter(({ text }) => text !== '');
  const size = texts.reduce((sum, { text }) => sum + text.length, 0);
  if (size <= wordsTask.inline) return analysed(analysis, { ...given, texts });
  const result = await threads.run(wordsTask, { ...given, texts }, { size, caller });
  if (result.ok) return result.value;
  throw new Fault('OVERLOADED', 'The text could not be analysed in time. Retry after the time in Retry-After.');
}

/** @throws Fault OVERLOADED if too many long texts are waiting */
export async function projectRecord(
  analyst: Analyst,
  profile: IndexProfile,
  values: Readonly<Record<string, unknown>>,
  number: string | null,
): Promise<Projected> {
  const texts = profile.fields
    .filter(({ field }) => Object.hasOwn(values, field.code))
    .map(({ field, zone, fieldToken }) => ({
      text: plainText(field, values[field.code]),
      zone,
      fieldToken,
      isTitle: zone === 'A',
    }));
  return await analyse(analyst, { texts, most: profile.fields.length, number });
}

/** @throws Fault OVERLOADED if too many long texts are waiting */
export async function projectText(
  analyst: Analyst,
  texts: readonly { text: string; zone: string }[],
): Promise<Projected> {
  const given = texts.map(({ text, zone }) => ({ text, zone, fieldToken: '', isTitle: false }));
  return await analyse(analyst, { texts: given, most: texts.length, number: null });
}

/** @throws Fault OVERLOADED if too many long texts are waiting */
export async function articleRow(analyst: Analyst, versionId: string, article: ArticleText): Promise<ArticleRow> {
  const { articleId, title, summary, tags, body, updatedAt } = article;
  const projected = await projectText(analyst, [
    { text: title, zone: 'A' },
    { text: tags.join('\n'), zone: 'B' },
    { text: summary, zone: 'B' },
    { text: body, zone: 'C' },
  ]);
  return { id: versionId, article_id: articleId, title, summary, at: updatedAt, ...projected };
}

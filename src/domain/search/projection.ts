/** What the projection holds of a record, a comment or an article. Pure but for the analysis, which remembers stems. */
import type { Analysis } from '../../lib/words.ts';
import { plainText } from '../metadata/door.ts';
import type { Form } from './forms.ts';
import { type Part, wordsOf } from './lexemes.ts';
import type { ArticleRow } from './store.ts';
import type { ArticleText } from './store-articles.ts';

export interface Projected {
  /** Text of a `tsvector`. */
  words: string;
  /** Words without label. */
  size: number;
}

export function projectRecord(
  analysis: Analysis,
  form: Form,
  values: Readonly<Record<string, unknown>>,
  number: string | null,
): Projected {
  const parts: Part[] = [];
  for (const { field, zone, label } of form.fields) {
    if (!Object.hasOwn(values, field.code)) continue;
    const text = plainText(field, values[field.code]);
    if (text !== '') parts.push({ lexemes: analysis.indexLexemes(text), zone, label });
  }
  return wordsOf(parts, form.fields.length, number);
}

export function projectText(analysis: Analysis, texts: readonly { text: string; zone: string }[]): Projected {
  const parts = texts
    .filter(({ text }) => text !== '')
    .map(({ text, zone }) => ({ lexemes: analysis.indexLexemes(text), zone, label: '' }));
  return wordsOf(parts, texts.length, null);
}

export function articleRow(analysis: Analysis, versionId: string, article: ArticleText): ArticleRow {
  const { articleId, title, summary, tags, body, updatedAt } = article;
  const projected = projectText(analysis, [
    { text: title, zone: 'A' },
    { text: tags.join('\n'), zone: 'B' },
    { text: summary, zone: 'B' },
    { text: body, zone: 'C' },
  ]);
  return { id: versionId, article_id: articleId, title, summary, at: updatedAt, ...projected };
}

/** Real texts for the measured records: titles and descriptions of the shared data sets, with a natural word distribution. */
import path from 'node:path';
import { dice } from '../corpus.ts';
import { readRows } from '../search-quality/test-collections.ts';

export interface RealText {
  title: string;
  description: string;
}

const SOURCES: readonly { file: string; title: string; description: string }[] = [
  { file: 'trac-jquery/tickets.csv.gz', title: 'summary', description: 'description' },
  { file: 'jira-opensource/issues.csv.gz', title: 'title', description: 'description' },
  { file: 'helpdesk-endava/tickets.csv.gz', title: 'title', description: 'body' },
  { file: 'kb-ru-m365/articles.csv.gz', title: 'title', description: 'body' },
  { file: 'bugs-seamonkey/issues.csv.gz', title: 'summary', description: 'description' },
  { file: 'support-ru-rutube/tickets.csv.gz', title: 'question', description: 'answer' },
];
const LONGEST_TITLE = 200;
/** The size of a typical ticket; longer texts are truncated, so that a record has a realistic size. */
const LONGEST_TEXT = 1200;

const clean = (text: string): string => text.replaceAll('\u0000', '').toWellFormed().normalize('NFC').trim();

/** Shuffled: loaded source by source, words would be clustered in time. */
export async function readTexts(folder: string): Promise<RealText[]> {
  const texts: RealText[] = [];
  for (const { file, title, description } of SOURCES) {
    for (const row of await readRows(path.join(folder, file))) {
      const name = clean(row[title] ?? '')
        .replace(/\s+/g, ' ')
        .slice(0, LONGEST_TITLE)
        .toWellFormed();
      const text = clean(row[description] ?? '')
        .slice(0, LONGEST_TEXT)
        .toWellFormed();
      if (name !== '' && text !== '') texts.push({ title: name, description: text });
    }
  }
  return shuffled(texts);
}

function shuffled<T>(list: readonly T[]): T[] {
  const next = dice(11);
  return list
    .map((item) => ({ item, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/**
 * Three relevance test collections of real texts: questions and the record that was the right answer. They are not part of this
 * repository; they are read from the folder `DOCKET_BENCH_DATA`, or else from `../shared/data` beside the repository.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { parse } from 'csv-parse/sync';

export interface Text {
  id: string;
  title: string;
  body: string;
  /** Other short fields of the record: components, key words, topics. */
  marks: string;
  comments: string[];
}

/** One question: its text, the record in which it was asked (which is no result), and the right answer. */
export interface Question {
  text: string;
  self: string | undefined;
  right: string;
}

export interface TestCollection {
  name: string;
  texts: Text[];
  questions: Question[];
  /** Pairs of a duplicate and its original. */
  duplicates?: (readonly [duplicate: string, original: string])[];
}

type Row = Record<string, string>;

export async function readRows(file: string): Promise<Row[]> {
  const raw = await readFile(file);
  const plain = file.endsWith('.gz') ? await promisify(gunzip)(raw) : raw;
  return parse(plain, { columns: true, bom: true, relax_column_count: true });
}

const cell = (row: Row, name: string): string => row[name] ?? '';

/** One question per pair (asked in, right answer), without pairs that refer to a missing record. */
function questionsOf(texts: readonly Text[], pairs: Iterable<readonly [string, string]>): Question[] {
  const byId = new Map(texts.map((text) => [text.id, text]));
  const questions: Question[] = [];
  for (const [self, right] of pairs) {
    const asked = byId.get(self);
    if (asked !== undefined && self !== right && byId.has(right)) questions.push({ text: asked.title, self, right });
  }
  return questions;
}

/** Bugs of jQuery: the summary of a duplicate asks for the original. */
export async function jquery(folder: string): Promise<TestCollection> {
  const rows = await readRows(path.join(folder, 'trac-jquery/tickets.csv.gz'));
  const comments = new Map<string, string[]>();
  for (const row of await readRows(path.join(folder, 'trac-jquery/comments.csv.gz'))) {
    const known = comments.get(cell(row, 'ticket_id'));
    if (known === undefined) comments.set(cell(row, 'ticket_id'), [cell(row, 'body')]);
    else known.push(cell(row, 'body'));
  }
  const texts = rows.map((row) => ({
    id: cell(row, 'id'),
    title: cell(row, 'summary'),
    body: cell(row, 'description'),
    marks: `${cell(row, 'component')} ${cell(row, 'keywords')}`,
    comments: comments.get(cell(row, 'id')) ?? [],
  }));
  const rowsOfPairs = await readRows(path.join(folder, 'trac-jquery/relations.csv.gz'));
  const duplicates = rowsOfPairs.map((row) => [cell(row, 'source_id'), cell(row, 'target_id')] as const);
  return { name: 'jquery', texts, questions: questionsOf(texts, duplicates), duplicates };
}

/** Bugs of SeaMonkey: the summary of either of a pair asks for the other. */
export async function seamonkey(folder: string): Promise<TestCollection> {
  const rows = await readRows(path.join(folder, 'bugs-seamonkey/issues.csv.gz'));
  const texts = rows.map((row) => ({
    id: cell(row, 'issue_id'),
    title: cell(row, 'summary'),
    body: cell(row, 'description'),
    marks: '',
    comments: [],
  }));
  const pairs = await readRows(path.join(folder, 'bugs-seamonkey/duplicates.csv'));
  return {
    name: 'seamonkey',
    texts,
    questions: questionsOf(
      texts,
      pairs.map((row) => [cell(row, 'issue_id'), cell(row, 'duplicate_id')] as const),
    ),
  };
}

/** Questions to a Russian video service: each was answered out of one article. */
export async function rutube(folder: string): Promise<TestCollection> {
  const rows = await readRows(path.join(folder, 'support-ru-rutube/articles.csv'));
  const texts = rows.map((row) => ({
    id: cell(row, 'code'),
    title: cell(row, 'title'),
    body: cell(row, 'body'),
    marks: `${cell(row, 'section')} ${cell(row, 'subsection')} ${cell(row, 'topic')}`,
    comments: [],
  }));
  const known = new Set(texts.map((text) => text.id));
  const tickets = await readRows(path.join(folder, 'support-ru-rutube/tickets.csv.gz'));
  return {
    name: 'rutube',
    texts,
    questions: tickets
      .filter((row) => known.has(cell(row, 'kb_code')))
      .map((row) => ({ text: cell(row, 'question'), self: undefined, right: cell(row, 'kb_code') })),
  };
}

/** Each title asks for its own record. */
export function ownTitles({ name, texts }: TestCollection): TestCollection {
  return { name, texts, questions: texts.map(({ id, title }) => ({ text: title, self: undefined, right: id })) };
}

export async function testCollections(folder: string): Promise<TestCollection[]> {
  return [await jquery(folder), await seamonkey(folder), await rutube(folder)];
}

/** The measured searches and their time limits at a million records. */
import type pg from 'pg';
import { makeAnalysis } from '../../src/lib/words.ts';
import { dice } from '../corpus.ts';
import { AREAS, PRIORITIES, REQUESTER } from './bundle.ts';
import type { RealText } from './texts.ts';

/** Ingredients of queries: words by document frequency, prefixes, whole sentences. */
export interface Words {
  common: string[];
  medium: string[];
  rare: string[];
  unique: string[];
  beginnings: string[];
  sentences: string[];
  /** Titles as they are typed: each with one letter more than the one before. */
  typed: string[];
}

export interface Case {
  name: string;
  says: string;
  /** Milliseconds at 16 connections: median and 99th percentile. Null where the design names none. */
  target: [p50: number, p99: number] | null;
  /** The login of the caller, if it is not the reader. */
  by?: string;
  /** The address before the path, if it is not that of the public API. */
  prefix?: string;
  path(words: Words, pick: <T>(list: readonly T[]) => T): string;
}

/** Document frequencies of each kind of word. */
const KINDS = { common: [0.25, 0.6], medium: [0.02, 0.05], rare: [0.0004, 0.001] } as const;
const MAX_WORDS = 40;
const DEEP_PAGE = 400;
/** Letters of a title that a user types before choosing a suggestion. */
const MAX_TYPED = 30;

const search = (query: Readonly<Record<string, string>>): string => `/search?${new URLSearchParams(query)}`;
const equals = (field: string, value: string): unknown => ({ field, operator: 'equals', value });

export const CASES: readonly Case[] = [
  {
    name: 'unique',
    says: 'a word of one record',
    target: [5, 20],
    path: (words, pick) => search({ q: pick(words.unique) }),
  },
  {
    name: 'rare',
    says: 'a rare word (0.07 %)',
    target: [5, 20],
    path: (words, pick) => search({ q: pick(words.rare) }),
  },
  {
    name: 'medium',
    says: 'a word of 2–5 %',
    target: [50, 150],
    path: (words, pick) => search({ q: pick(words.medium) }),
  },
  {
    name: 'common',
    says: 'a word of 25–60 %',
    target: [25, 100],
    path: (words, pick) => search({ q: pick(words.common) }),
  },
  {
    name: 'own-common',
    says: 'the same for a caller who reads one of 10,000 records',
    target: [25, 100],
    by: REQUESTER,
    path: (words, pick) => search({ q: pick(words.common) }),
  },
  {
    name: 'own-rare',
    says: 'a rare word for this caller',
    target: [5, 20],
    by: REQUESTER,
    path: (words, pick) => search({ q: pick(words.rare) }),
  },
  {
    name: 'two-common',
    says: 'two words of 25–60 %',
    target: [25, 100],
    path: (words, pick) => search({ q: `${pick(words.common)} ${pick(words.common)}` }),
  },
  {
    name: 'common-rare',
    says: 'a common and a rare word',
    target: [25, 100],
    path: (words, pick) => search({ q: `${pick(words.common)} ${pick(words.rare)}` }),
  },
  {
    name: 'prefix',
    says: 'two letters, a beginning',
    target: [25, 100],
    path: (words, pick) => search({ q: pick(words.beginnings) }),
  },
  {
    name: 'sentence',
    says: 'a whole sentence',
    target: null,
    path: (words, pick) => search({ q: pick(words.sentences) }),
  },
  {
    name: 'suggest',
    says: 'suggestions while a title is typed',
    target: [25, 50],
    prefix: '/api/admin/v1',
    path: (words, pick) => `/desk/suggestions?${new URLSearchParams({ q: pick(words.typed) })}`,
  },
  {
    name: 'filter',
    says: 'filter on one field, by update',
    target: [15, 60],
    path: (_, pick) => search({ filter: JSON.stringify(equals('priority', pick(PRIORITIES))) }),
  },
  {
    name: 'filter-two',
    says: 'filter on two fields, by update',
    target: [15, 60],
    path: (_, pick) => {
      const conditions = [equals('priority', pick(PRIORITIES)), equals('area', pick(AREAS))];
      return search({ filter: JSON.stringify({ logic: 'AND', conditions }) });
    },
  },
  {
    name: 'filter-word',
    says: 'filter and a word of 2–5 %',
    target: [15, 60],
    path: (words, pick) =>
      search({ q: pick(words.medium), filter: JSON.stringify(equals('priority', pick(PRIORITIES))) }),
  },
  {
    name: 'deep',
    says: `a common word, page ${DEEP_PAGE} of 25`,
    target: null,
    path: (words, pick) => search({ q: pick(words.common), page: String(DEEP_PAGE) }),
  },
  {
    name: 'list',
    says: 'GET /objects by type and state',
    target: [3, 10],
    path: () => '/objects?typeId=ticket&state=new',
  },
  {
    name: 'list-deep',
    says: `the same, page ${DEEP_PAGE}`,
    target: [30, 80],
    path: () => `/objects?typeId=ticket&state=new&page=${DEEP_PAGE}`,
  },
];

/** Words of the database that questions can be made of, found in a sample of the rows. */
export async function chooseWords(db: pg.Client, texts: readonly RealText[], records: number): Promise<Words> {
  const sampled = Math.min(20_000, records);
  const { rows } = await db.query<{ word: string; share: number }>(
    `SELECT word, ndoc::float8 / $1 AS share FROM ts_stat(
       'SELECT words FROM (SELECT words FROM search_records ORDER BY md5(id::text) LIMIT ${sampled}) AS sample')
      WHERE word ~ '^([a-z]+|[а-я]+)$' AND length(word) BETWEEN 3 AND 12`,
    [sampled],
  );
  const analysis = makeAnalysis();
  const next = dice(7);
  const asked = rows.filter(({ word }) => analysis.queryTerms(word)[0]?.lexemes[0] === word);
  const some = <T>(list: readonly T[]): T[] =>
    Array.from({ length: Math.min(MAX_WORDS, list.length) }, () => list[Math.floor(next() * list.length)] as T);
  const between = ([least, most]: readonly [number, number]): string[] =>
    some(asked.filter(({ share }) => share >= least && share <= most).map(({ word }) => word));
  const common = between(KINDS.common);
  const frequent = rows.filter(({ share }) => share > 0.01).map(({ word }) => word.slice(0, 2));
  const titles = texts.map(({ title }) => title.trim()).filter((title) => title.split(' ').length >= 6);
  return {
    common,
    medium: between(KINDS.medium),
    rare: between(KINDS.rare),
    unique: Array.from({ length: MAX_WORDS }, () => `q${Math.ceil(records * (0.5 + next() / 2)) - 1}x`),
    beginnings: some([...new Set(frequent)]),
    sentences: some(titles),
    typed: some(titles).flatMap((title) =>
      Array.from({ length: Math.min(MAX_TYPED, title.length) }, (_, at) => title.slice(0, at + 1).trim()),
    ),
  };
}

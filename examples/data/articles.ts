/** Two Russian knowledge bases: written, given an audience and published through the API, then found by search in Russian. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Docket } from '../../client/src/index.ts';
import { readTable, type Row } from './sources.ts';
import { inParallel } from './work.ts';

interface Base {
  code: string;
  sections: { code: string; name: string }[];
  articles: { code: string; section: string; title: string; body: string; topic: string }[];
}

interface Question {
  text: string;
  /** Code of the article that answers it according to the data. */
  article: string;
}

export interface Articles {
  bases: Base[];
  /** How many codes of the data are no codes of Docket and are spelt otherwise. */
  respelt: number;
  questions: Question[];
}

const LOCALE = 'ru-RU';
const TITLE_MOST = 300;

/** The code of the data with invalid characters replaced; `taken` keeps codes unique. */
function spell(raw: string, taken: Set<string>): string {
  const plain = raw.normalize('NFC').replaceAll(/[^A-Za-z0-9._-]+/g, '-');
  const whole = /^[A-Za-z0-9]/.test(plain) ? plain : `a${plain}`;
  let code = whole.slice(0, 100);
  for (let again = 2; taken.has(code); again++) code = `${whole.slice(0, 95)}-${again}`;
  taken.add(code);
  return code;
}

function baseOf(code: string, rows: readonly Row[], sectionOf: (row: Row) => string): Base {
  const names = [...new Set(rows.map(sectionOf))];
  const sections = names.map((name, at) => ({ code: `s${at + 1}`, name: name === '' ? 'Прочее' : name }));
  const taken = new Set<string>();
  const articles = rows.map((row) => ({
    code: spell(row['code'] ?? '', taken),
    section: sections[names.indexOf(sectionOf(row))]?.code ?? '',
    title: (row['title'] ?? '').slice(0, TITLE_MOST),
    body: row['body'] ?? '',
    // The sets give `article` where there is no topic.
    topic: row['topic'] === 'article' ? '' : (row['topic'] ?? ''),
  }));
  return { code, sections, articles };
}

/** The sets, where they are; undefined where they are not. */
export async function readArticles(data: string): Promise<Articles | undefined> {
  const m365 = path.join(data, 'kb-ru-m365', 'articles.csv.gz');
  const rutube = path.join(data, 'support-ru-rutube');
  if (!existsSync(m365) || !existsSync(path.join(rutube, 'articles.csv'))) return undefined;
  const questions = await readTable(path.join(rutube, 'tickets.csv.gz'));
  const tables = [await readTable(m365), await readTable(path.join(rutube, 'articles.csv'))] as const;
  const bases = [
    baseOf('m365', tables[0], (row) => row['service'] ?? ''),
    baseOf('rutube', tables[1], (row) => row['section'] ?? ''),
  ];
  const codes = new Set(bases.flatMap(({ articles }) => articles.map(({ code }) => code)));
  return {
    bases,
    respelt: tables.flat().filter((row) => !codes.has(row['code'] ?? '')).length,
    questions: questions.map((row) => ({ text: row['question'] ?? '', article: row['kb_code'] ?? '' })),
  };
}

export type Visibility = 'internal' | 'portal';

/** Their section of the bundle. */
export function knowledgeBases({ bases }: Articles, visibility: Visibility = 'internal'): object[] {
  return bases.map(({ code, sections }) => ({
    code,
    name: code,
    visibility,
    locales: [LOCALE],
    sections: sections.map((section) => ({ ...section, parent: null })),
  }));
}

interface Keys {
  url: string;
  key: string;
  adminKey: string;
  visibility?: Visibility;
}

/** Publishes every article for everyone. @returns code → article id */
export async function publish(
  { url, key, adminKey, visibility = 'internal' }: Keys,
  { bases }: Articles,
): Promise<Map<string, string>> {
  const docket = new Docket({ url, key });
  const { admin } = new Docket({ url, key: adminKey });
  const ids = new Map<string, string>();
  const all = bases.flatMap((base) => base.articles.map((article) => ({ base: base.code, ...article })));
  await inParallel(all, async ({ base, code, section, title, body, topic }) => {
    const { id, versionId } = await docket.kb.create({
      baseId: base,
      sectionId: section,
      code,
      title,
      locale: LOCALE,
      body,
      visibility,
      ...(topic === '' ? {} : { summary: topic.slice(0, 1000) }),
    });
    await admin.kb.setAudiences(versionId, { audiences: [{ kind: 'everyone' }] });
    await docket.kb.publish({ versionId });
    ids.set(code, id);
  });
  return ids;
}

/** The ids of the first results for a text. */
async function found(docket: Docket, text: string): Promise<string[]> {
  const q = text.slice(0, 500);
  const { results } = await docket.search.search({ q, kinds: 'article', pageSize: 10 });
  return results.map(({ id }) => id);
}

/** @returns problems as text */
export async function tryArticles(keys: Keys, articles: Articles, say: (line: string) => void): Promise<string[]> {
  const problems: string[] = [];
  const began = performance.now();
  const ids = await publish(keys, articles);
  say(`articles: ${articles.respelt} codes of the data hold what a code may not, and are spelt otherwise`);
  say(
    `articles: ${ids.size} written, given to everyone and published in ${((performance.now() - began) / 1000).toFixed(1)} s`,
  );
  const docket = new Docket(keys);
  const listed = await docket.kb.list({ locale: LOCALE });
  if (listed.length !== ids.size) problems.push(`${listed.length} articles are listed, not ${ids.size}`);

  let byTitle = 0;
  const titles = articles.bases.flatMap((base) => base.articles);
  await inParallel(titles, async ({ code, title }) => {
    if ((await found(docket, title)).includes(ids.get(code) ?? '')) byTitle++;
  });
  say(`articles: ${byTitle} of ${titles.length} are among the first ten found by their own title`);
  if (byTitle < titles.length * 0.95) problems.push('too few articles are found by their title');

  let [first, five, asked] = [0, 0, 0];
  await inParallel(articles.questions, async ({ text, article }) => {
    const id = ids.get(article);
    if (id === undefined || !/[\p{L}\p{N}].*[\p{L}\p{N}]/u.test(text)) return;
    asked++;
    const place = (await found(docket, text)).indexOf(id);
    if (place === 0) first++;
    if (place >= 0 && place < 5) five++;
  });
  say(
    `articles: of ${asked} questions as people wrote them, the article that answers is the first result for ${first}, among five for ${five}`,
  );
  if (five < asked * 0.25) problems.push('too few questions find their article');
  return problems;
}

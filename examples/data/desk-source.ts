/** What the desk example writes: titles, people, organisation and articles; from public data sets where given, else generated. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Articles, readArticles } from './articles.ts';
import { readTable } from './sources.ts';

export interface Ticket {
  title: string;
  description: string;
}

export interface Person {
  login: string;
  displayName: string;
  email: string;
}

const LONGEST_TITLE = 200;
const LONGEST_TEXT = 4000;

/** A generator of numbers from 0 to 1 that gives the same ones in every run. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

export function pick<Item>(random: () => number, list: readonly Item[]): Item {
  return list[Math.floor(random() * list.length)] as Item;
}

const GIVEN = ['Анна', 'Мария', 'Ольга', 'Елена', 'Наталья', 'Сергей', 'Александр', 'Дмитрий', 'Андрей', 'Иван'];
// Names of one form for both genders, so that every combination is a real name.
const FAMILY = [
  ['Шевченко', 'shevchenko'],
  ['Ткаченко', 'tkachenko'],
  ['Бондаренко', 'bondarenko'],
  ['Коваленко', 'kovalenko'],
  ['Кравченко', 'kravchenko'],
  ['Ким', 'kim'],
  ['Пак', 'pak'],
  ['Шмидт', 'shmidt'],
  ['Вебер', 'veber'],
  ['Черных', 'chernykh'],
  ['Долгих', 'dolgikh'],
  ['Седых', 'sedykh'],
  ['Белых', 'belykh'],
  ['Живаго', 'zhivago'],
  ['Дурново', 'durnovo'],
  ['Саакян', 'saakyan'],
  ['Петросян', 'petrosyan'],
  ['Мельник', 'melnik'],
  ['Гончар', 'gonchar'],
  ['Коваль', 'koval'],
] as const;

/** People; with 1,500 of them each name is shared by about seven. Logins and addresses differ. */
export function people(count: number, random = randomFrom(1)): Person[] {
  return Array.from({ length: count }, (_, index) => {
    const [family, latin] = pick(random, FAMILY);
    const login = `${latin}-${index + 1}`;
    return { login, displayName: `${family} ${pick(random, GIVEN)}`, email: `${login}@example.org` };
  });
}

const SYSTEMS = ['1С:Документооборот', 'корпоративной почте Outlook', 'VPN-клиенте', 'портале закупок', 'CRM', 'СЭД'];
const TROUBLES = [
  'при сохранении большого договора с вложениями появляется сообщение «Превышено время ожидания» и изменения теряются',
  'после вчерашнего обновления не отображаются согласования, которые были отправлены на прошлой неделе',
  'не удаётся войти: система просит сменить пароль, но новый пароль не принимает ни в каком виде',
  'отчёт за квартал формируется больше сорока минут и иногда завершается без результата',
  'печать на сетевой принтер выходит с искажёнными полями и без русских букв',
  'двухфакторная авторизация присылает код с опозданием в десять минут',
];
const PLACES = ['Бухгалтерия', 'Отдел продаж', 'Склад № 3', 'Юридический отдел', 'Приёмная', 'Филиал в Самаре'];

function generatedTickets(count: number): Ticket[] {
  const random = randomFrom(2);
  return Array.from({ length: count }, (_, index) => {
    const [place, system, trouble] = [pick(random, PLACES), pick(random, SYSTEMS), pick(random, TROUBLES)];
    return {
      title: `${place}: в ${system} ${trouble} (рабочее место ${index + 1})`.slice(0, LONGEST_TITLE),
      description: `Сотрудники сообщают: в ${system} ${trouble}.\n\nПовторяется каждый день с начала недели. Обходного пути нет.`,
    };
  });
}

const TOPICS = ['Как настроить', 'Что делать, если не работает', 'Как получить доступ: ', 'Частые вопросы: '];

function generatedArticles(count: number): Articles {
  const random = randomFrom(3);
  const sections = SYSTEMS.map((name, at) => ({ code: `s${at + 1}`, name: name[0]?.toUpperCase() + name.slice(1) }));
  const articles = Array.from({ length: count }, (_, index) => {
    const at = Math.floor(random() * SYSTEMS.length);
    const title = `${pick(random, TOPICS)} ${SYSTEMS[at]}, случай ${index + 1}`;
    const steps = Array.from(
      { length: 12 },
      (_unused, step) => `${step + 1}. ${pick(random, TROUBLES)}: проверьте ещё раз.`,
    );
    const body = `## Когда это нужно\n\n${pick(random, TROUBLES)}.\n\n## Шаги\n\n${steps.join('\n')}\n\n## Если не помогло\n\nСоздайте обращение.`;
    return { code: `guide-${index + 1}`, section: `s${at + 1}`, title, body, topic: '' };
  });
  return { bases: [{ code: 'guides', sections, articles }], respelt: 0, questions: [] };
}

/** Tickets of the public sets: questions in Russian, help desk mails, bug reports in many languages. */
async function givenTickets(from: string): Promise<Ticket[]> {
  const table = async (file: string, title: string, text: string): Promise<Ticket[]> => {
    if (!existsSync(path.join(from, file))) return [];
    return (await readTable(path.join(from, file))).map((row) => ({
      title: row[title] || (row[text] ?? ''),
      description: row[text] ?? '',
    }));
  };
  const issues = path.join(from, 'github-multilingual', 'issues.json.gz');
  const reports = existsSync(issues)
    ? (JSON.parse(gunzipSync(await readFile(issues)).toString()) as { title: string; body: string | null }[])
    : [];
  return [
    ...(await table('support-ru-rutube/tickets.csv.gz', 'question', 'question')),
    ...(await table('bugs-seamonkey/issues.csv.gz', 'summary', 'description')),
    ...reports.map(({ title, body }) => ({ title, description: body ?? '' })),
    ...(await table('helpdesk-endava/tickets.csv.gz', 'title', 'body')),
  ];
}

// A title is one line; a text has no control characters except line breaks and tabs.
const clean = ({ title, description }: Ticket): Ticket => ({
  title: title
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_TITLE)
    .toWellFormed(),
  description: description
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .slice(0, LONGEST_TEXT)
    .toWellFormed(),
});

/** @returns `count` tickets; where the sets have fewer, the rest is generated */
export async function tickets(from: string | undefined, count: number): Promise<Ticket[]> {
  const given = from === undefined ? [] : (await givenTickets(from)).map(clean).filter(({ title }) => title !== '');
  return [...given, ...generatedTickets(Math.max(0, count - given.length))].slice(0, count);
}

/** @returns at most `count` articles of the sets, else as many generated ones */
export async function articles(from: string | undefined, count: number): Promise<Articles> {
  const given = from === undefined ? undefined : await readArticles(from);
  if (given === undefined) return generatedArticles(count);
  const all = given.bases.reduce((sum, base) => sum + base.articles.length, 0);
  let left = Math.min(count, all);
  // Each base gives its share; the last one fills up.
  const bases = given.bases.map((base, index) => {
    const last = index === given.bases.length - 1;
    const kept = base.articles.slice(0, last ? left : Math.floor((base.articles.length / all) * Math.min(count, all)));
    left -= kept.length;
    return { ...base, articles: kept };
  });
  return { ...given, bases: bases.filter((base) => base.articles.length > 0) };
}

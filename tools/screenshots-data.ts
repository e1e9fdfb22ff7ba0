/** The desk that the pictures of the documentation show: weeks of finished work, a catalogue, articles and a conversation. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import type { Clock } from '../src/platform/clock.ts';
import { AGENT, BUNDLE, LEAD, REQUESTER, type SeedCall, transition } from '../test/support/console-seed.ts';
import type { TestConsole } from '../test/support/console.ts';

const HOUR = 3_600_000;
const DAYS = 35;

/** How much faster than real time the clock runs while records are created, so that they do not all have the same time. */
const SPEED = 6000;

/** A clock that starts weeks ago, so that records get the times at which they would have been written. */
export class HistoryClock implements Clock {
  #behind = DAYS * 24 * HOUR;
  #since = 0;
  #speed = 1;

  now(): number {
    const passed = (Date.now() - this.#since) * (this.#speed - 1);
    return Date.now() - Math.max(0, this.#behind - (this.#speed === 1 ? 0 : passed));
  }

  /** Sets the clock to a later time, in milliseconds before the present. */
  moveTo(behind: number): void {
    this.#behind = Math.min(Date.now() - this.now(), behind);
    this.#speed = 1;
  }

  /** Lets the time pass quickly until the present. */
  hurry(): void {
    [this.#since, this.#speed] = [Date.now(), SPEED];
  }
}

const CATEGORIES = ['Учётные записи', 'Программы', 'Оборудование', 'Сайт'];
const TITLES = [
  'Не запускается программа учёта после обновления',
  'Нужен доступ к отчётам отдела продаж',
  'Мерцает монитор',
  'Сайт отвечает с ошибкой 502',
  'Не принимается новый пароль',
  'Не печатает принтер в бухгалтерии',
  'Пропал звук на ноутбуке',
  'Отчёт открывается дольше минуты',
];
const PRIORITIES = ['p3', 'p2', 'p4', 'p3', 'p1', 'p3', 'p2'];
const PEOPLE = ['petrova', 'sokolov', 'kim'];

interface Step {
  /** Hours before the present. */
  before: number;
  run: () => Promise<unknown>;
}

/** Weeks of incidents, most of them solved. */
export async function addHistory(call: SeedCall, clock: HistoryClock): Promise<void> {
  await call('POST', '/config/apply', { files: [{ name: 'people.yaml', text: BUNDLE }] });
  const idsOf = async (section: string): Promise<Record<string, string>> => {
    const items: { code: string; id: string }[] = await call('GET', `/config/${section}`);
    return Object.fromEntries(items.map(({ code, id }) => [code, id]));
  };
  const [people, groups] = [await idsOf('users'), await idsOf('groups')];
  const categories: string[] = [];
  for (const title of CATEGORIES) {
    categories.push((await call('POST', '/objects', { typeDefinitionId: 'category', values: { title } })).id);
  }
  const steps: Step[] = [];
  // A number of incidents a day that varies without chance, fewer at weekends.
  for (let day = DAYS - 1, n = 0; day > 0; day--) {
    const weekday = new Date(Date.now() - day * 24 * HOUR).getUTCDay();
    for (let k = 0; k < (weekday % 6 === 0 ? 1 : 2 + ((day * 7) % 4)); k++, n++) {
      const before = day * 24 - ((k * 37) % 9);
      const kind = (n * 5) % TITLES.length;
      const assignee = people[PEOPLE[(n * n) % PEOPLE.length] ?? ''];
      const values = {
        title: TITLES[kind],
        priority: PRIORITIES[n % PRIORITIES.length],
        category: categories[kind % categories.length],
        requester: people[n % 6 === 0 ? 'ivanova' : 'guliev'],
        assignmentGroup: groups[kind === 3 ? 'network' : 'service-desk'],
      };
      let id = '';
      const spent = 1 + ((n * 11) % 30);
      steps.push(
        {
          before,
          run: async () => (id = (await call('POST', '/objects', { typeDefinitionId: 'incident', values })).id),
        },
        { before: before - spent / 4, run: () => transition(call, id, 'take', { assignee }) },
        {
          before: before - spent / 2,
          run: () => call('POST', `/objects/${id}/comments`, { body: 'Проверяем.', visibility: 'public' }),
        },
      );
      if (n % 5 === 0 && before < 120) continue;
      const solution = 'Исправлено, проверено вместе с заявителем.';
      steps.push(
        { before: before - spent, run: () => transition(call, id, 'resolve', { solution, closeCode: 'solved' }) },
        { before: before - spent - 20, run: () => transition(call, id, 'close') },
      );
    }
  }
  for (const { before, run } of steps.filter((step) => step.before > 8).toSorted((a, b) => b.before - a.before)) {
    clock.moveTo(before * HOUR);
    await run();
  }
  clock.moveTo(8 * HOUR);
  clock.hurry();
}

const KNOWLEDGE = `
knowledgeBases:
  - code: help
    name: { ru-RU: Справка, en-US: Help }
    visibility: portal
    locales: [ru-RU, en-US]
    sections:
      - { code: mail, name: { ru-RU: Почта, en-US: Mail } }
      - { code: network, name: { ru-RU: Сеть и VPN, en-US: Network and VPN } }
      - { code: printing, name: { ru-RU: Печать, en-US: Printing } }
`;

const ARTICLES: readonly [section: string, code: string, title: string, summary: string][] = [
  ['mail', 'mail-phone', 'Почта на телефоне: настройка', 'Учётная запись, новый пароль и частые ошибки.'],
  ['network', 'vpn-home', 'Подключение к VPN из дома', 'Программа, учётная запись и что делать при обрывах.'],
  ['printing', 'printer', 'Как подключить принтер к ноутбуку', 'Драйвер, очередь печати и печать по карте.'],
  ['mail', 'calendar', 'Общий календарь отдела', 'Как открыть календарь и пригласить коллег.'],
  ['network', 'wifi', 'Беспроводная сеть в офисе', 'Какая сеть для кого и как войти.'],
  ['printing', 'scan', 'Сканирование в почту', 'Сканер, адресная книга и размер файла.'],
];

const TEXT = `## Что понадобится

1. Служебный телефон или ноутбук.
2. Учётная запись и **новый** пароль.

## Как сделать

Откройте *Настройки → Учётные записи* и нажмите «Добавить».

## Если не помогло

Сообщите о проблеме: служба поддержки ответит в рабочее время.
`;

/** The roles of the starter configuration, given to a requester and a lead. */
function roles(): string {
  const { roles } = parse(configuration('itsm/50-roles.yaml')) as { roles: { code: string }[] };
  const holders: Record<string, string> = { requester: REQUESTER, lead: LEAD };
  const given = roles.filter(({ code }) => Object.hasOwn(holders, code));
  return stringify({ roles: given.map((role) => ({ ...role, assignedTo: { users: [holders[role.code]] } })) });
}

function configuration(file: string): string {
  return readFileSync(path.join(import.meta.dirname, '..', 'config', file), 'utf8');
}

/** Roles, the catalogue, articles for requesters, and the conversation of the incident that is shown. */
export async function addPortal({ app, call, seeded }: TestConsole): Promise<void> {
  const files = [roles(), configuration('catalogue/catalogue.yaml'), KNOWLEDGE];
  await call('POST', '/config/apply', { files: files.map((text, n) => ({ name: `portal-${n}.yaml`, text })) });
  for (const [sectionId, code, title, summary] of ARTICLES) {
    const article = {
      baseId: 'help',
      sectionId,
      code,
      title,
      summary,
      locale: 'ru-RU',
      visibility: 'portal',
      body: TEXT,
    };
    const { versionId } = await call('POST', '/kb/articles', article);
    await call('PUT', `/kb/article-versions/${versionId}/audiences`, { audiences: [{ kind: 'everyone' }] });
    await call('POST', '/kb/articles/publish', { versionId });
  }
  const conversation = [
    [REQUESTER, 'Журнал приложила. Через браузер почта открывается, на телефоне нет.'],
    [AGENT, 'Спасибо! Видим отказы шлюза после смены пароля. До вечера исправим и сообщим **здесь**.'],
  ] as const;
  for (const [login, body] of conversation) {
    const { key } = await app.createKey({ login, scopes: 'all' });
    const answer = await app.request('POST', `/api/v1/objects/${seeded.incident}/comments`, {
      key,
      body: { body, visibility: 'public' },
      idempotencyKey: `screenshots-${login}`,
    });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  }
}

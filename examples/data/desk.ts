/**
 * Fills an installation with data for trying the desk. A simulated clock runs through the last 30 days, so that records,
 * history and SLA have the times that they would have.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { setPassword } from '../../src/domain/access/index.ts';
import { openEmbedded } from '../../src/platform/database/embedded.ts';
import { startTestApp, type TestApp } from '../../test/support/app.ts';
import { startService } from '../jquery-tracker/service.ts';
import { type Articles, knowledgeBases, publish } from './articles.ts';
import { articles, people, pick, randomFrom, type Ticket, tickets } from './desk-source.ts';
import { inParallel } from './work.ts';

export interface Size {
  incidents: number;
  users: number;
  articles: number;
}

export const DESK: Size = { incidents: 5500, users: 1500, articles: 600 };

const DAY_MS = 86_400_000;
const DAYS = 30;
const GROUPS = ['network', 'workplaces', 'accounts', 'erp', 'mail', 'printing', 'telephony', 'servers'] as const;
const UNITS = ['Бухгалтерия', 'Продажи', 'Логистика', 'Производство', 'Юристы', 'Кадры', 'Маркетинг', 'ИТ'];
/** Of each of these groups. */
const AGENTS = 6;
const EMPLOYEES = 'employees';
const CHUNK = 200;

const codeOfUnit = (index: number): string => `unit-${index + 1}`;

/** Configuration beside the starter: people with their groups and units, and the knowledge bases. */
function bundle(size: Size, written: Articles, roles: readonly object[]): string {
  const users = people(size.users);
  const agents = (group: number): string[] =>
    users.slice(group * AGENTS, (group + 1) * AGENTS).map(({ login }) => login);
  const everyAgent = GROUPS.flatMap((_, index) => agents(index));
  return stringify({
    users: users.map((user, index) => ({
      ...user,
      locale: 'ru-RU',
      timezone: 'Europe/Moscow',
      orgUnit: codeOfUnit(index % UNITS.length),
    })),
    groups: [
      { code: 'service-desk', name: { 'ru-RU': 'Служба поддержки', 'en-US': 'Service desk' }, users: everyAgent },
      ...GROUPS.map((code, index) => ({ code, name: `Group ${code}`, users: agents(index) })),
      {
        code: EMPLOYEES,
        name: { 'ru-RU': 'Сотрудники', 'en-US': 'Employees' },
        users: users.slice(GROUPS.length * AGENTS).map(({ login }) => login),
      },
    ],
    roles,
    orgUnits: UNITS.map((name, index) => ({ code: codeOfUnit(index), name })),
    knowledgeBases: knowledgeBases(written, 'portal'),
  });
}

/** The starter's roles of requesters, for everybody who is no agent, and of leads. */
async function assignedRoles(lead: string): Promise<object[]> {
  const { roles } = parse(await readFile('config/itsm/50-roles.yaml', 'utf8')) as { roles: { code: string }[] };
  const assigned = (code: string, assignedTo: object): object => {
    const role = roles.find((one) => one.code === code);
    if (role === undefined) throw new Error(`the starter has no role ${code}`);
    return { ...role, assignedTo };
  };
  return [assigned('requester', { groups: [EMPLOYEES] }), assigned('lead', { users: [lead] })];
}

interface Step {
  at: number;
  incident: number;
  run: (state: Incident) => Promise<void>;
}

interface Incident {
  id: string;
  revision: number;
  state: string;
}

interface Workflow {
  state: { id: string };
  transitions: { id: string; code: string }[];
}

/** Calls of the API at the simulated time. */
class Desk {
  readonly #app: TestApp;
  readonly #key: string;
  /** Ids of states and transitions, by state and transition code. */
  readonly #ways = new Map<string, { stateId: string; transitionId: string }>();

  constructor(app: TestApp, key: string) {
    this.#app = app;
    this.#key = key;
  }

  async call<Answer>(method: string, address: string, body?: unknown): Promise<Answer> {
    const given = body === undefined ? {} : { body };
    const answer = await this.#app.request(method, `/api/v1${address}`, { key: this.#key, ...given });
    if (answer.status >= 300) throw new Error(`${method} ${address}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  }

  async transition(incident: Incident, code: string, to: string, values: object): Promise<void> {
    const name = `${incident.state} ${code}`;
    let way = this.#ways.get(name);
    if (way === undefined) {
      const { state, transitions } = await this.call<Workflow>('GET', `/objects/${incident.id}/workflow`);
      const found = transitions.find((one) => one.code === code);
      if (found === undefined) throw new Error(`there is no transition ${name}`);
      way = { stateId: state.id, transitionId: found.id };
      this.#ways.set(name, way);
    }
    const { object } = await this.call<{ object: { revision: number } }>(
      'POST',
      `/objects/${incident.id}/transitions`,
      {
        transitionId: way.transitionId,
        expectedRevision: incident.revision,
        expectedStateId: way.stateId,
        values,
      },
    );
    incident.revision = object.revision;
    incident.state = to;
  }
}

interface Ids {
  users: string[];
  groups: Map<string, string>;
}

const HOUR_MS = 3_600_000;
const SOLUTIONS = [
  'Настройки исправлены, проверено с заявителем.',
  'Установлено обновление.',
  'Оборудование заменено.',
];

/** The course of one incident, from its creation to the state that it has now. */
function courseOf(desk: Desk, ids: Ids, ticket: Ticket, index: number, now: number, random: () => number): Step[] {
  const created = now - random() * DAYS * DAY_MS;
  const steps: Step[] = [];
  let at = created;
  const later = (hours: number, run: Step['run']): void => {
    at += (0.1 + random()) * hours * HOUR_MS;
    steps.push({ at, incident: index, run });
  };
  const group = Math.floor(random() * GROUPS.length);
  const assignee = ids.users[group * AGENTS + Math.floor(random() * AGENTS)];
  steps.push({
    at: created,
    incident: index,
    run: async (incident) => {
      const made = await desk.call<{ id: string; revision: number }>('POST', '/objects', {
        typeDefinitionId: 'incident',
        values: {
          ...ticket,
          priority: pick(random, ['p1', 'p2', 'p3', 'p3', 'p3', 'p4']),
          source: pick(random, ['portal', 'phone', 'email']),
          requester: index % 400 === 0 ? ids.users.at(-1) : pick(random, ids.users),
          assignmentGroup: ids.groups.get(GROUPS[group] as string),
        },
      });
      Object.assign(incident, { id: made.id, revision: made.revision, state: 'new' });
    },
  });
  const comment = (body: string, visibility: string): void =>
    later(3, async ({ id }) => void (await desk.call('POST', `/objects/${id}/comments`, { body, visibility })));
  const move = (hours: number, code: string, to: string, values: object): void =>
    later(hours, (incident) => desk.transition(incident, code, to, values));
  if (random() < 0.05) {
    move(10, 'cancel', 'cancelled', { $reason: 'Повтор другого обращения.' });
    return steps;
  }
  move(6, 'take', 'in-progress', { assignee });
  if (random() < 0.4)
    comment('Здравствуйте! Уточните, пожалуйста, когда это началось и у кого ещё повторяется.', 'public');
  if (random() < 0.25) comment('Похоже на прошлый сбой, смотрю журналы.', 'internal');
  if (random() < 0.3) {
    move(8, 'hold', 'pending', { $reason: 'Ждём ответа заявителя.' });
    move(40, 'resume', 'in-progress', {});
  }
  move(60, 'resolve', 'resolved', {
    solution: pick(random, SOLUTIONS),
    closeCode: pick(random, ['solved', 'workaround']),
  });
  move(72, 'close', 'closed', {});
  return steps;
}

/** Runs the steps in the order of their times. A chunk runs in parallel and holds each incident once. */
async function play(steps: readonly Step[], incidents: Incident[], setTime: (at: number) => void): Promise<void> {
  const chunk = new Map<number, Step>();
  const flush = async (): Promise<void> => {
    const first = chunk.values().next().value;
    if (first !== undefined) setTime(first.at);
    await inParallel([...chunk.values()], (step) => step.run(incidents[step.incident] as Incident));
    chunk.clear();
  };
  for (const step of steps) {
    if (chunk.size >= CHUNK || chunk.has(step.incident)) await flush();
    chunk.set(step.incident, step);
  }
  await flush();
}

/** Fills an open, configured database. @param setTime sets the simulated clock of the app */
async function fill(
  app: TestApp,
  written: Articles,
  size: Size,
  from: string | undefined,
  setTime: (at: number) => void,
) {
  const now = Date.now();
  const { key } = await app.createKey({ login: 'admin', scopes: ['all'] });
  const { key: adminKey } = await app.createKey({ login: 'admin', scopes: ['admin:manage'] });
  const desk = new Desk(app, key);
  const logins = new Map<string, string>(
    (await desk.call<{ login: string; id: string }[]>('GET', '/identity/users')).map((user) => [user.login, user.id]),
  );
  const groups = new Map<string, string>(
    (await desk.call<{ code: string; id: string }[]>('GET', '/identity/groups')).map((group) => [group.code, group.id]),
  );
  const ids = { users: people(size.users).map(({ login }) => logins.get(login) ?? ''), groups };
  await publish({ url: app.url, key, adminKey, visibility: 'portal' }, written);
  const random = randomFrom(4);
  const all = await tickets(from, size.incidents);
  const steps = all
    .flatMap((ticket, index) => courseOf(desk, ids, ticket, index, now, random))
    .filter(({ at }) => at < now)
    .sort((a, b) => a.at - b.at);
  await play(
    steps,
    all.map(() => ({ id: '', revision: 0, state: '' })),
    setTime,
  );
  return steps.length;
}

interface Options {
  folder: string;
  from: string | undefined;
  keep: boolean;
  size?: Size;
  say: (line: string) => void;
}

/** Makes an installation in the folder, fills it, and starts it again with `keep`. */
export async function fillDesk({ folder, from, keep, size = DESK, say }: Options): Promise<void> {
  const written = await articles(from, size.articles);
  const own = path.join(folder, 'desk');
  await mkdir(own, { recursive: true });
  const users = people(size.users);
  const [agent = '', lead = '', requester = ''] = [0, 1, -1].map((index) => users.at(index)?.login);
  await writeFile(path.join(own, 'desk.yaml'), bundle(size, written, await assignedRoles(lead)));
  const service = await startService(folder);
  for (const part of ['config/itsm', 'config/catalogue', own]) await service.docket('apply', part);
  await service.stop();
  say(`${size.users} people, their groups and units are there; now ${size.incidents} incidents and the articles.`);
  let time = Date.now() - DAYS * DAY_MS;
  const embedded = await openEmbedded({ dataDir: path.join(folder, 'service'), log: () => {}, use: 'tool' });
  const password = randomBytes(12).toString('base64url');
  try {
    const app = await startTestApp({
      database: { url: embedded.url },
      bundle: 'none',
      clock: { now: () => Math.floor(time) },
    });
    try {
      app.app.startWorker();
      const count = await fill(app, written, size, from, (at) => {
        time = at;
      });
      say(`${count} changes of incidents were made.`);
      time = Date.now();
      for (const login of ['admin', agent, lead, requester]) {
        await app.app.work.write(app.app.system(), (ctx) => setPassword(ctx, login, password));
      }
    } finally {
      await app.close();
    }
  } finally {
    await embedded.stop();
  }
  const logins = `admin, ${agent} (agent), ${lead} (lead) or ${requester} (requester)`;
  say(`Sign in as ${logins} with the password ${password}`);
  if (keep) say(`The service goes on at ${(await startService(folder)).url}; its data are in ${folder}.`);
  else say(`Start it with: DOCKET_DATA_DIR=${path.join(folder, 'service')} npm start`);
}

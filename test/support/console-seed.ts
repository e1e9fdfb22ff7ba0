/** A small service desk with sample data, created through the API, for browser tests and screenshots. */

export interface SeedCall {
  (method: string, path: string, body?: unknown): Promise<any>;
}

export interface Seeded {
  /** Ids by login. */
  people: Record<string, string>;
  /** The incident that the record page is shown with. */
  incident: string;
  problem: string;
  asset: string;
  incidents: string[];
}

const PEOPLE: readonly [string, string][] = [
  ['petrova', 'Анна Петрова'],
  ['sokolov', 'Илья Соколов'],
  ['kim', 'Виктория Ким'],
  ['morozov', 'Павел Морозов'],
  ['ivanova', 'Мария Иванова'],
  ['guliev', 'Тимур Гулиев'],
];

/** A user with few rights: sees only their own requests. */
export const REQUESTER = 'ivanova';
/** A user who reads some records, and changes none: works in the desk without the right to export. */
export const READER = 'morozov';
export const AGENT = 'petrova';
/** An agent. */
export const LEAD = 'kim';

/** People, groups, roles and service levels of the desk. */
export const BUNDLE = `
users:
${PEOPLE.map(([login, name]) => `  - { login: ${login}, displayName: ${name}, email: ${login}@example.org, locale: ru-RU }`).join('\n')}
groups:
  - { code: service-desk, name: { ru-RU: Служба поддержки, en-US: Service desk }, users: [petrova, sokolov, kim] }
  - { code: network, name: { ru-RU: Сети, en-US: Network team }, users: [morozov] }
roles:
  - code: requester
    name: { ru-RU: Заявитель, en-US: Requester }
    interface: portal
    records:
      - type: incident
        where: { field: requester, operator: equals, value: $me }
        actions: [read, create, transition, comment.create, attachment.add]
        fields:
          read: [title, description, priority, category, location, affected, requester, solution, resolvedAt]
          write: [title, description, category, location, affected, requester]
        transitions: [reopen, close, cancel]
      - { type: category, actions: [read], fields: { read: [title, parent, description] } }
      - { type: location, actions: [read], fields: { read: [title, parent, address] } }
    assignedTo: { users: [${REQUESTER}] }
  - code: mail-reader
    name: { ru-RU: Наблюдатель за почтой, en-US: Mail reader }
    interface: desk
    records:
      - type: incident
        where: { field: title, operator: starts-with, value: Не открывается }
        actions: [read]
        fields: { read: [title, priority] }
    assignedTo: { users: [${READER}] }
calendars:
  - code: always
    timezone: Europe/Moscow
    week: { mon: ['00:00-24:00'], tue: ['00:00-24:00'], wed: ['00:00-24:00'], thu: ['00:00-24:00'], fri: ['00:00-24:00'], sat: ['00:00-24:00'], sun: ['00:00-24:00'] }
slaPolicies:
  - code: incident-resolution
    name: { ru-RU: Решение инцидента, en-US: Incident resolution }
    type: incident
    calendar: always
    targets: [{ when: { field: priority, operator: equals, value: p1 }, duration: PT4H }, { duration: PT24H }]
    start: { field: workflowState, operator: in, value: [new, in-progress] }
    pause: { field: workflowState, operator: equals, value: pending }
    stop: { field: workflowState, operator: in, value: [resolved, closed, cancelled] }
    warnAt: [50, 90]
`;

const CATEGORIES = ['Почта', 'Сеть', 'Рабочее место', 'Печать', 'Доступ', 'Телефония'];
const PLACES = ['Москва, Лесная 7', 'Казань, Баумана 12', 'Удалённо'];

const INCIDENTS: readonly [string, string, number, number, string][] = [
  ['Не открывается почта на телефоне после смены пароля', 'p2', 0, 2, 'in-progress'],
  ['Принтер на третьем этаже жуёт бумагу', 'p4', 3, 0, 'new'],
  ['Пропала сеть в переговорной «Байкал»', 'p1', 1, 0, 'in-progress'],
  ['VPN отключается каждые десять минут', 'p2', 1, 2, 'pending'],
  ['Нет доступа к папке отдела закупок', 'p3', 4, 1, 'resolved'],
  ['Ноутбук не выходит из спящего режима', 'p3', 2, 0, 'in-progress'],
  ['Гарнитура не определяется в конференциях', 'p4', 5, 2, 'new'],
  ['1С закрывается при проведении документа', 'p2', 2, 1, 'in-progress'],
  ['Просроченный сертификат на портале заявок', 'p1', 1, 0, 'resolved'],
  ['Не приходит код подтверждения', 'p3', 4, 2, 'new'],
  ['Медленно открываются файлы с общего диска', 'p3', 1, 0, 'pending'],
  ['Сломалась клавиша Enter', 'p4', 2, 1, 'closed'],
  ['Сканер отправляет пустые страницы', 'p3', 3, 0, 'in-progress'],
  ['Телефон на ресепшене не принимает звонки', 'p2', 5, 0, 'new'],
  ['Календарь показывает встречи на час позже', 'p3', 0, 2, 'in-progress'],
  ['Забыт пароль от учётной записи', 'p4', 4, 1, 'closed'],
];

const LONG = `После обновления ночью почтовая программа на телефоне спрашивает пароль по кругу.

Что уже пробовали:
- удалить учётную запись и добавить снова;
- сменить пароль через портал;
- войти через браузер: там всё работает.

Телефон служебный, номер инвентаря 004-117.`;

const SVG_SAFE_TEXT =
  'Журнал почтовой программы за 21 ноября\nAUTH FAILED (535) 09:14:02\nAUTH FAILED (535) 09:14:32\n';

/** Fills an empty service, except for files; `call` acts as the administrator below `/api/admin/v1` and gives `data`. */
export async function seed(call: SeedCall): Promise<Seeded> {
  await call('POST', '/config/apply', { files: [{ name: 'people.yaml', text: BUNDLE }] });
  const users = await call('GET', '/config/users');
  const groups = await call('GET', '/config/groups');
  const people = Object.fromEntries(users.map((one: { code: string; id: string }) => [one.code, one.id]));
  const group = (code: string): string => groups.find((one: { code: string }) => one.code === code).id;
  const make = async (typeDefinitionId: string, values: Record<string, unknown>): Promise<string> =>
    (await call('POST', '/objects', { typeDefinitionId, values })).id;

  const categories: string[] = [];
  for (const title of CATEGORIES) categories.push(await make('category', { title }));
  const places: string[] = [];
  for (const title of PLACES) places.push(await make('location', { title }));
  const model = await make('asset-model', { title: 'ThinkPad T14 Gen 6', kind: 'laptop' });
  const asset = await make('asset', { title: 'Ноутбук 004-117', model, owner: people['ivanova'], location: places[0] });
  await make('asset', { title: 'Принтер 3 этаж', location: places[0] });

  // Those who may work on incidents.
  const assignees = ['petrova', 'sokolov', 'kim', 'sokolov'];
  const incidents: string[] = [];
  for (const [index, [title, priority, category, place, state]] of INCIDENTS.entries()) {
    const assignee = people[assignees[index % assignees.length] ?? ''] as string;
    const id = await make('incident', {
      title,
      priority,
      description: index === 0 ? LONG : `${title}. Началось сегодня утром, раньше работало.`,
      category: categories[category],
      location: places[place],
      requester: people[index % 3 === 0 ? 'ivanova' : 'guliev'],
      assignmentGroup: group(category === 1 ? 'network' : 'service-desk'),
      ...(index === 0 ? { affected: [asset], impact: 'person', urgency: 'medium' } : {}),
    });
    await move(call, id, state, assignee);
    incidents.push(id);
  }
  const [incident = '', second = '', third = ''] = incidents;
  const problem = await make('problem', { title: 'Почтовый шлюз отклоняет новые пароли' });
  const definitions = await call('GET', `/relation-definitions?sourceObjectId=${incident}`);
  for (const definition of definitions) {
    for (const targetObjectId of [problem, second, third]) {
      // Not every definition admits every target; those that do make the graph.
      await call('POST', `/objects/${incident}/relations`, { definitionId: definition.id, targetObjectId }).catch(
        () => {},
      );
    }
  }
  await call('POST', `/objects/${incident}/comments`, {
    body: 'Здравствуйте! Проверили: сервер принимает **новый** пароль. Пришлите, пожалуйста, журнал с телефона.',
    visibility: 'public',
  });
  await call('POST', `/objects/${incident}/comments`, {
    body: 'Похоже на то же, что на прошлой неделе: шлюз держит старый пароль в кэше. Спрошу сетевиков.',
    visibility: 'internal',
  });
  const { revision } = await call('GET', `/objects/${incident}`);
  await call('PATCH', `/objects/${incident}`, { expectedRevision: revision, changes: { urgency: 'high' } });
  await call('POST', '/desk/queues', {
    name: 'Сети: в работе',
    shared: true,
    definition: {
      type: 'incident',
      state: 'in-progress',
      columns: ['number', 'title', 'priority', 'assignee', 'updatedAt'],
    },
  });
  return { people, incident, problem, asset, incidents };
}

/** Attaches a file to the incident that the record page is shown with. */
export async function attachLog(call: SeedCall, incident: string): Promise<void> {
  await call('POST', `/objects/${incident}/attachments`, {
    filename: 'журнал-почты.txt',
    mediaType: 'text/plain',
    contentBase64: Buffer.from(SVG_SAFE_TEXT).toString('base64'),
  });
}

/** Walks an incident to a state by its transitions. */
async function move(call: SeedCall, id: string, to: string, assignee: string): Promise<void> {
  const steps: Record<string, string[]> = {
    'in-progress': ['take'],
    pending: ['take', 'hold'],
    resolved: ['take', 'resolve'],
    closed: ['take', 'resolve', 'close'],
  };
  const values: Record<string, Record<string, unknown>> = {
    take: { assignee },
    hold: { $reason: 'Ждём ответа заявителя' },
    resolve: { solution: 'Перезапустили службу, проверили вместе с заявителем.', closeCode: 'solved' },
  };
  for (const code of steps[to] ?? []) await transition(call, id, code, values[code]);
}

/** Executes the transition `code` of a record. */
export async function transition(
  call: SeedCall,
  id: string,
  code: string,
  values: Record<string, unknown> = {},
): Promise<void> {
  const { state, transitions, object } = await call('GET', `/objects/${id}/workflow`);
  await call('POST', `/objects/${id}/transitions`, {
    transitionId: transitions.find((one: { code: string }) => one.code === code).id,
    expectedRevision: object.revision,
    expectedStateId: state.id,
    values,
  });
}

/** Additional sample data so that every screen of the console has content, for screenshots and measurements. */
import sql from 'sql-template-tag';
import type { TestConsole } from './console.ts';
import { mail } from './mail-messages.ts';

const ACCESS = `
orgUnits:
  - { code: company, name: { ru-RU: 'АО «Лесная, 7»', en-US: Lesnaya 7 }, parent: null }
  - { code: it, name: { ru-RU: Информационные технологии, en-US: Information technology }, parent: company }
  - { code: support, name: { ru-RU: Поддержка пользователей, en-US: User support }, parent: it }
  - { code: finance, name: { ru-RU: Финансы, en-US: Finance }, parent: company }
services:
  - code: mail
    name: { ru-RU: Почта и календарь, en-US: Mail and calendar }
    audience: { everyone: true }
  - code: workplace
    name: { ru-RU: Рабочее место, en-US: Workplace }
    audience: { everyone: true }
catalogs:
  - code: main
    name: { ru-RU: Каталог услуг, en-US: Service catalogue }
    active: true
    categories:
      - { code: hardware, name: { ru-RU: Оборудование, en-US: Hardware }, parent: null }
      - { code: laptops, name: { ru-RU: Ноутбуки, en-US: Laptops }, parent: hardware }
      - { code: access, name: { ru-RU: Доступы, en-US: Access }, parent: null }
    items:
      - code: broken-laptop
        name: { ru-RU: Сломался ноутбук, en-US: My laptop is broken }
        description: { ru-RU: 'Заменим или починим, на время ремонта дадим другой', en-US: We mend or replace it }
        category: laptops
        service: workplace
        type: incident
        form: [{ code: title, required: true }, { code: description }, { code: location }]
        requesterField: requester
        audience: { everyone: true }
      - code: vpn
        name: { ru-RU: Доступ к VPN, en-US: VPN access }
        description: { ru-RU: Работа из дома и в поездках, en-US: Work from home and on the road }
        category: access
        type: incident
        form: [{ code: title, required: true }, { code: description }]
        requesterField: requester
        audience: { everyone: true }
knowledgeBases:
  - code: it
    name: { ru-RU: База ИТ, en-US: IT base }
    visibility: internal
    locales: [ru-RU, en-US]
    sections:
      - { code: network, name: { ru-RU: Сеть, en-US: Network }, parent: null }
      - { code: mail, name: { ru-RU: Почта, en-US: Mail }, parent: null }
calendars:
  - code: office
    timezone: Europe/Moscow
    week: { mon: ['09:00-13:00', '14:00-18:00'], tue: ['09:00-18:00'], wed: ['09:00-18:00'], thu: ['09:00-18:00'], fri: ['09:00-17:00'] }
    exceptions: [{ date: '2026-01-01', hours: [] }, { date: '2026-01-02', hours: [] }, { date: '2026-05-01', hours: [] }, { date: '2026-11-04', hours: [] }, { date: '2026-12-31', hours: ['09:00-15:00'] }]
`;

/** Rules of which some fire others, and a mailbox. */
const AUTOMATION = `
mailboxes: [{ code: support, address: support@example.org, type: incident, defaults: { priority: p3 }, enabled: true }]
rules:
  - { code: sort-network, name: { ru-RU: Заявки о сети направить сетевикам, en-US: Send network requests to the network team }, on: [ObjectCreated, ObjectUpdated], types: [incident], runAs: admin, when: { field: title, operator: contains, value: сеть }, do: [ { set: { assignmentGroup: network } } ] }
  - { code: raise-priority, name: { ru-RU: Повысить приоритет, en-US: Raise the priority }, on: [ObjectUpdated], types: [incident], runAs: admin, when: { field: assignmentGroup, operator: equals, value: network }, do: [ { set: { priority: p2 } } ] }
  - { code: notify-network, name: { ru-RU: Сообщить дежурному сетевику о срочном обращении, en-US: Tell the network engineer on duty about urgent requests }, on: [ObjectCreated, ObjectUpdated], types: [incident], runAs: admin, when: { field: priority, operator: in, value: [p1, p2] }, do: [ { notify: { to: [assignee] } }, { comment: { visibility: internal, body: 'Дежурному отправлено уведомление.' } } ] }
  - { code: after-comment, name: { ru-RU: Снять срочность, en-US: Remove the urgency }, on: [CommentAdded], types: [incident], runAs: admin, do: [ { set: { urgency: low } } ] }
  - { code: back-to-first, name: { ru-RU: Вернуть на первую линию, en-US: Return to the first line }, on: [ObjectUpdated], types: [incident], runAs: admin, when: { field: urgency, operator: equals, value: low }, do: [ { set: { assignmentGroup: service-desk } } ] }
`;

const ARTICLES: readonly [string, string, string, string][] = [
  [
    'mail',
    'mail-phone',
    'Почта на телефоне: настройка',
    'Как добавить учётную запись и что делать, если пароль не подходит.',
  ],
  ['network', 'vpn-setup', 'Подключение к VPN из дома', 'Программа, учётная запись и частые ошибки.'],
  ['network', 'wifi', 'Беспроводная сеть в офисе', 'Какая сеть для кого и как войти.'],
];

const TEXT = `## Что понадобится

1. Служебный телефон или ноутбук.
2. Учётная запись и **новый** пароль.

## Как сделать

Откройте *Настройки → Учётные записи* и нажмите «Добавить». Сервер: \`mail.example.org\`.

> Если программа спрашивает пароль по кругу, удалите запись и добавьте её снова.

| Ошибка | Что делать |
|---|---|
| 535 | Пароль не подходит: смените его на портале |
| 550 | Ящик переполнен |
`;

export interface SampleData {
  webhook: string;
  integration: string;
  importDefinition: string;
  importRun: string;
  article: string;
  draft: string;
}

/** Adds services, a catalogue, articles, keys, connections with calls that went well and ill, and an import that ran. */
export async function addSampleData(desk: TestConsole): Promise<SampleData> {
  const { call, app } = desk;
  await call('POST', '/config/apply', { files: [{ name: 'life.yaml', text: ACCESS }] });
  const drafts: { id: string; versionId: string }[] = [];
  for (const [section, code, title, summary] of ARTICLES) {
    const body = {
      baseId: 'it',
      sectionId: section,
      code,
      title,
      summary,
      locale: 'ru-RU',
      visibility: 'internal',
      body: TEXT,
    };
    drafts.push(await call('POST', '/kb/articles', body));
  }
  for (const { versionId } of drafts.slice(0, 2)) {
    await call('PUT', `/kb/article-versions/${versionId}/audiences`, { audiences: [{ kind: 'everyone' }] });
    await call('POST', '/kb/articles/publish', { versionId });
  }
  await call('POST', '/keys', {
    owner: 'petrova',
    name: 'Портал сотрудников',
    scopes: ['objects:read', 'objects:write'],
  });
  await call('POST', '/keys', {
    owner: 'petrova',
    name: 'Отчёты',
    scopes: ['objects:read'],
    expiresAt: '2027-03-01T00:00:00Z',
  });
  const users = await call('GET', '/identity/users');
  const admin = users.find((one: { login: string }) => one.login === 'admin').id;
  await call('POST', '/signing-secrets', { code: 'portal' });
  const hook = {
    code: 'portal',
    endpoint: 'https://hooks.example.org/docket',
    secretRef: 'portal',
    executionPrincipalId: admin,
    eventTypes: ['ObjectCreated', 'CommentAdded'],
    retryPolicy: { maxAttempts: 2 },
  };
  const webhook = (await call('POST', '/webhooks', hook)).id;
  const monitoring = {
    code: 'monitoring',
    type: 'inbound-webhook',
    executionPrincipalId: admin,
    enabled: true,
    config: {
      command: 'object.create',
      typeDefinitionId: 'incident',
      mapping: [
        { source: 'alert.summary', target: 'title' },
        { source: 'alert.severity', target: 'priority' },
      ],
    },
  };
  const integration = (await call('POST', '/integrations', monitoring)).id;
  const { key } = await app.createKey({ login: 'admin', scopes: ['integrations:execute', 'objects:write'] });
  for (const alert of [{ summary: 'Диск заполнен на 95 %', severity: 'p2' }, { severity: 'urgent' }]) {
    await app.request('POST', `/api/v1/inbound/${integration}`, { key, body: { alert } });
  }
  const definition = await call('POST', '/import-definitions', {
    code: 'places',
    name: 'Адреса из учётной системы',
    targetKind: 'object',
    targetTypeId: 'location',
    format: 'CSV',
    mode: 'UPSERT',
    sourceCode: 'accounting',
    resolver: { externalIdField: 'id' },
    mapping: [
      { source: 'name', target: 'title' },
      { source: 'street', target: 'address' },
    ],
  });
  const run = await call('POST', '/imports/run', {
    definitionId: definition.id,
    content: 'id,name,street\n1,Самара,Ленинградская 5\n2,,Мира 1\n3,Омск,Ленина 12\n',
    dryRun: false,
  });
  await addAutomation(desk);
  return {
    webhook,
    integration,
    importDefinition: definition.id,
    importRun: run.id,
    article: drafts[0]?.id ?? '',
    draft: drafts[2]?.versionId ?? '',
  };
}

/** Adds rules with runs, received mail that was not used, mail to users, and notifications. */
async function addAutomation({ call, app, seeded }: TestConsole): Promise<void> {
  await call('POST', '/config/apply', { files: [{ name: 'automation.yaml', text: AUTOMATION }] });
  const { key } = await app.createKey({ login: 'admin', scopes: ['integrations:execute'] });
  const subjects = [
    'Не приходит счёт',
    'Вопрос по заявке INC-1012',
    'Автоответ: я в отпуске до 30 ноября',
    'Re: доступ к VPN',
  ];
  for (const [index, subject] of subjects.entries()) {
    const encoded = `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`;
    const headers = index === 2 ? ['Auto-Submitted: auto-replied'] : [];
    const raw = mail({ from: `customer${index}@partner.example`, subject: encoded, headers });
    await app.request('POST', '/api/v1/mailboxes/support/messages', { key, body: { raw: raw.toBase64() } });
  }
  await app.db.query(sql`
    INSERT INTO mail_outgoing (id, user_id, notification_ids, status, attempts, due_at, next_at, finished_at, error)
    SELECT gen_random_uuid(), u.id, ARRAY[gen_random_uuid(), gen_random_uuid()], s.status, s.attempts,
      now() - s.n * interval '7 minutes', now(), now(), s.error
    FROM users u, (VALUES (1, 'SENT', 1, NULL), (2, 'FAILED', 3, '550 5.1.1 <user@example.org>: Recipient address rejected: User unknown'),
      (3, 'PENDING', 2, '451 4.7.1 Greylisting in action, please come back later'), (4, 'DROPPED', 0, NULL)) AS s (n, status, attempts, error)
    WHERE u.login IN ('petrova', 'kim', 'ivanova')`);
  await call('POST', `/objects/${seeded.incident}/comments`, {
    body: '@petrova посмотрите, пожалуйста: заявитель прислал журнал.',
    visibility: 'internal',
  });
}

/** Rows that one statement puts in: more would outlast the time that a statement has. */
const CHUNK = 50_000;

/** Puts incidents in, as copies of the seeded ones with numbers of their own, straight into the table. */
export async function addManyRecords(desk: TestConsole, count: number): Promise<void> {
  for (let from = 1; from <= count; from += CHUNK) {
    await desk.app.db.query(sql`
      INSERT INTO objects (id, type_id, type_version, number, title, revision, workflow_state_id, "values", folded, created_at,
        created_by, updated_at, updated_by)
      SELECT gen_random_uuid(), type_id, type_version, 'ZZZ' || lpad(n::text, 7, '0'), title || ' ' || n, 1, workflow_state_id,
        "values", folded, created_at - n * interval '1 minute', created_by, updated_at - n * interval '1 minute', updated_by
      FROM generate_series(${from}::int, ${Math.min(count, from + CHUNK - 1)}::int) AS n
      JOIN (SELECT *, row_number() OVER (ORDER BY number) AS place, count(*) OVER () AS places FROM objects
        WHERE number LIKE 'INC%') AS one ON one.place = 1 + n % one.places`);
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      await desk.app.db.query(sql`ANALYZE objects`);
      return;
    } catch (error) {
      // The service builds field indexes in the background: each statement may wait for the other's end.
      if (attempt === 10 || (error as { code?: string }).code !== '40P01') throw error;
    }
  }
}

/** Example calls for users, integrations and configuration, recorded into the OpenAPI documents. */
import type { Recorder } from './examples-recorder.ts';
import { stored } from './small-configuration.ts';

/** Ids of users. */
export interface People {
  admin: string;
  anna: string;
}

export async function identityExamples(on: Recorder): Promise<People> {
  const ben = await on.keep('identity.createUser', {
    body: {
      login: 'ben',
      displayName: 'Ben Miller',
      email: 'ben@example.org',
      locale: 'en-US',
      timezone: 'Europe/London',
      employeeId: '4711',
    },
  });
  const users = await on.keep('identity.users');
  const idOf = (name: string): string => users.find(({ login }: { login: string }) => login === name).id;
  const params = { id: ben.id };
  await on.keep('identity.setPassword', { params, body: { password: 'a long password of Ben' } });
  await on.keep('identity.changeUser', { params, body: { expectedRevision: 1, employeeId: '4712' } });
  const group = await on.keep('identity.createGroup', { body: { code: 'printing', name: 'Printing team' } });
  await on.keep('identity.groups');
  const member = await on.keep('identity.addGroupMember', { body: { groupId: group.id, memberId: ben.id } });
  await on.keep('identity.groupMembers', { query: { groupId: group.id } });
  await on.keep('identity.removeGroupMember', { params: { id: member.id } });
  await on.keep('identity.changeGroup', {
    params: { id: group.id },
    body: { expectedRevision: 1, name: 'Printers and scanners' },
  });
  const unit = await on.keep('identity.createOrgUnit', {
    body: { name: 'Sales London', code: 'sales-london', managerUserId: ben.id, location: 'London' },
  });
  await on.keep('identity.orgUnits');
  const place = await on.keep('identity.setOrgMember', { body: { organizationUnitId: unit.id, userId: ben.id } });
  await on.keep('identity.orgMembers', { query: { organizationUnitId: unit.id } });
  await on.keep('identity.removeOrgMember', {
    params: { id: place.id },
    body: { expectedOrganizationUnitId: unit.id },
  });
  await on.keep('identity.changeOrgUnit', {
    params: { id: unit.id },
    body: { expectedRevision: 1, location: 'Leeds' },
  });
  await on.keep('identity.archiveGroup', { params: { id: group.id }, body: { expectedRevision: 2 } });
  await on.keep('identity.archiveOrgUnit', { params: { id: unit.id }, body: { expectedRevision: 2 } });
  await on.keep('identity.archiveUser', { params, body: { expectedRevision: 2 } });
  await on.keep('identity.archived');
  await on.keep('identity.restoreGroup', { params: { id: group.id }, body: { expectedRevision: 3 } });
  await on.keep('identity.restoreOrgUnit', { params: { id: unit.id }, body: { expectedRevision: 3 } });
  await on.keep('identity.restoreUser', { params, body: { expectedRevision: 3 } });
  return { admin: idOf('admin'), anna: idOf('anna') };
}

export async function integrationExamples(on: Recorder, { admin }: People): Promise<void> {
  await on.keep('secrets.create', { body: { code: 'monitoring' } });
  await on.keep('secrets.list');
  await on.keep('secrets.rotate', { params: { code: 'monitoring' }, body: { overlap: 'P1D' } });
  const hook = await on.keep('webhooks.create', {
    body: {
      code: 'monitoring',
      endpoint: 'https://1.1.1.1/docket',
      secretRef: 'monitoring',
      executionPrincipalId: admin,
      eventTypes: ['ObjectCreated', 'ObjectTransitioned'],
      filters: { types: ['incident'], condition: { field: 'priority', operator: 'equals', value: 'p1' } },
      retryPolicy: { maxAttempts: 5, baseDelayMs: 1000 },
      enabled: false,
    },
  });
  const params = { id: hook.id };
  await on.keep('webhooks.list');
  await on.keep('webhooks.change', { params, body: { eventTypes: ['ObjectCreated'] } });
  await on.keep('webhooks.enable', { params });
  await deliveryStory(on, hook.id);
  await on.keep('webhooks.disable', { params });
  await on.keep('webhooks.archive', { params });
  await on.keep('webhooks.restore', { params });
  const config = {
    command: 'object.create',
    typeDefinitionId: 'incident',
    mapping: [
      { source: 'alert.summary', target: 'title' },
      { source: 'alert.text', target: 'description' },
    ],
  };
  const alert = { alert: { summary: 'Disk of db-2 is full', text: '98 % used' } };
  const made = await on.keep('integrations.create', {
    body: { code: 'alerts', type: 'inbound-webhook', executionPrincipalId: admin, config },
  });
  const id = { id: made.id };
  await on.keep('integrations.change', {
    params: id,
    body: { config: { ...config, mapping: [...config.mapping, { source: 'alert.priority', target: 'priority' }] } },
  });
  await on.keep('integrations.try', { params: id, body: { body: alert } });
  await on.keep('integrations.enable', { params: id });
  await on.keep('inbound.run', { params: { integrationId: made.id }, body: alert });
  await on.keep('integrations.runs', { params: id, query: { status: 'SUCCEEDED' } });
  const message = 'From: eve@example.net\r\nSubject: Hello\r\nMessage-ID: <1@example.net>\r\n\r\nIs anybody there?\r\n';
  const mail = await on.keep('mail.receive', {
    params: { code: 'support' },
    body: { raw: Buffer.from(message).toString('base64') },
  });
  await on.keep('mail.messages', { query: { state: 'LISTED', page: 1, pageSize: 25 } });
  await on.keep('mail.retry', { params: { messageId: mail.id } });
  await outgoingStory(on, admin);
  await on.keep('integrations.list');
  await on.keep('integrations.disable', { params: id });
  await on.keep('integrations.archive', { params: id });
  await on.keep('integrations.restore', { params: id });
}

/** The service of the examples has no mail server: a mail that was given up is written as the worker writes it. */
async function outgoingStory(on: Recorder, userId: string): Promise<void> {
  const id = '01a202d0-5c1e-7d20-8a11-3f0c5b7e9a11';
  const client = await on.app.db.connect();
  try {
    await client.query(
      `INSERT INTO mail_outgoing (id, user_id, notification_ids, status, attempts, due_at, next_at, finished_at, error)
      VALUES ($1, $2, ARRAY[$1::uuid], 'FAILED', 1, now(), now(), now(), '550 5.1.1 No such mailbox')`,
      [id, userId],
    );
  } finally {
    client.release();
  }
  await on.keep('mail.sent', { query: { state: 'FAILED', page: 1, pageSize: 25 } });
  await on.keep('mail.send-again', { params: { mailId: id } });
}

/** The service of the examples sends nothing: a delivery that failed is written as the worker writes it. */
async function deliveryStory(on: Recorder, subscriptionId: string): Promise<void> {
  const id = '01a202d0-5c1e-7d20-8a11-3f0c5b7e9a10';
  await stored(
    on.app,
    `INSERT INTO webhook_deliveries (id, subscription_id, event_id, event_type, event_at, event_seq, event_data, status, attempt_count,
        max_attempts, base_delay_ms, created_at, due_at, finished_at)
      VALUES ($1, $2, $1, 'ObjectCreated', now(), 0, '{}', 'FAILED', 5, 5, 1000, now(), now(), now())`,
    [id, subscriptionId],
  );
  await on.keep('webhooks.deliveries', { query: { subscriptionId } });
  await on.keep('webhooks.delivery', { params: { id } });
  await on.keep('webhooks.retry', { params: { id } });
  await on.keep('webhooks.test', { params: { id: subscriptionId }, body: { eventType: 'ObjectCreated' } });
}

export async function configurationExamples(on: Recorder, { admin }: People, password: string): Promise<void> {
  await on.keep('config.list', { params: { section: 'types' } });
  await on.keep('config.item', { params: { section: 'calendars', code: 'office' } });
  const text =
    'relationDefinitions:\n  - code: mentions\n    name: Mentions\n    inverseName: Mentioned by\n    sourceTypes: [incident]\n    targetTypes: [problem]\n    cardinality: many-to-many\n';
  const files = [{ name: 'relations.yaml', text }];
  await on.keep('config.plan', { body: { files } });
  await on.keep('config.apply', { body: { files } });
  await on.keep('config.export', { query: { identity: false } });
  const { rows } = await on.keep('config.versions', { query: { page: 1, pageSize: 2 } });
  const [newest, earlier] = rows.map(({ version }: { version: number }) => version);
  await on.keep('config.version', { params: { version: String(newest) } });
  await on.keep('config.diff', { query: { from: earlier, to: newest } });
  await on.keep('audit.list', { query: { page: 1, pageSize: 25 } });
  const key = await on.keep('keys.create', {
    body: { owner: 'admin', name: 'nightly export', scopes: ['objects:read', 'exports:read'], allow: ['192.0.2.0/24'] },
  });
  await on.keep('keys.list');
  await on.keep('keys.rotate', { params: { id: key.id }, body: { overlap: 'PT1H' } });
  await on.keep('keys.revoke', { params: { id: key.id } });
  await on.keep('desk.types');
  await on.keep('desk.fields');
  await on.keep('desk.suggestions', { query: { q: 'INC' } });
  await on.keep('desk.lookup', { query: { kind: 'user', q: 'ann' } });
  const queue = await on.keep('desk.queues.create', {
    body: {
      name: 'Urgent incidents',
      shared: true,
      definition: { type: 'incident', filter: { field: 'priority', operator: 'equals', value: 'p1' } },
    },
  });
  const params = { queueId: queue.id };
  await on.keep('desk.queues.list');
  await on.keep('desk.queues.built-in');
  await on.keep('desk.queues.stream');
  await on.keep('desk.queues.change', { params, body: { expectedRevision: 1, name: 'Critical incidents' } });
  await on.keep('desk.queues.delete', { params, body: { expectedRevision: 2 } });
  await on.keep('notifications.list', { query: { unread: true, page: 1, pageSize: 25 } });
  await on.keep('notifications.count');
  await on.keep('notifications.stream');
  await on.keep('notifications.read', { body: { all: true } });
  await on.keep('notifications.choices.set', { body: { watch: { console: true, mail: 'digest' } } });
  await on.keep('notifications.choices.get');
  await on.keep('notifications.quietHours.set', { body: { from: '22:00', to: '07:00' } });
  await on.keep('notifications.quietHours.get');
  const tile = {
    kind: 'bars',
    title: 'Incidents by priority',
    width: 2,
    query: { types: ['incident'], measures: ['count'], groupBy: ['priority'], period: { lastDays: 30 } },
  };
  const dashboard = await on.keep('dashboards.create', { body: { name: 'My incidents', tiles: [tile] } });
  const ofDashboard = { dashboardId: dashboard.id };
  await on.keep('dashboards.list');
  await on.keep('dashboards.change', { params: ofDashboard, body: { expectedRevision: 1, name: 'Incidents' } });
  await on.keep('dashboards.delete', { params: ofDashboard, body: { expectedRevision: 2 } });
  await on.keep('reports.query', {
    body: {
      types: ['incident'],
      measures: ['count', 'timeToDone.p50'],
      groupBy: ['createdAt.day', 'priority'],
      period: { lastDays: 30 },
    },
  });
  await on.keep('reports.calendars');
  await on.keep('health.backlog');
  await ruleStory(on);
  await sessionStory(on, admin, password);
}

/** A rule before and after it is applied. */
async function ruleStory(on: Recorder): Promise<void> {
  const when = { field: 'priority', operator: 'equals', value: 'p1' };
  const comment = { visibility: 'internal', body: 'Critical: {{ title }}' };
  const rule = {
    code: 'tell-critical',
    on: ['ObjectCreated'],
    types: ['incident'],
    runAs: 'admin',
    when,
    do: [{ comment }],
  };
  await on.keep('rules.preview', { body: { rule, days: 7 } });
  await on.make('config.apply', { body: { files: [{ name: 'rules.yaml', text: JSON.stringify({ rules: [rule] }) }] } });
  const values = { title: 'The mail server does not answer', priority: 'p1' };
  const { id } = await on.make('objects.create', { body: { typeDefinitionId: 'incident', values } });
  await on.keep('rules.graph');
  await on.keep('rules.runs', { params: { code: rule.code }, query: { limit: 10 } });
  await on.keep('rules.try', { params: { code: rule.code }, body: { objectId: id } });
}

async function sessionStory(on: Recorder, admin: string, password: string): Promise<void> {
  await on.make('identity.setPassword', { params: { id: admin }, body: { password } });
  await on.keep('session.ways');
  await on.keep('config.schema');
  await on.keep('session.create', { body: { login: 'admin', password } });
  const signedIn = await on.app.request('POST', '/api/admin/v1/session', { body: { login: 'admin', password } });
  const [cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';');
  const session = { cookie, 'x-docket-csrf': signedIn.body.data.csrfToken as string };
  await on.keep('session.get', {}, session);
  const profile = await on.keep('me.get', {}, session);
  const change = { expectedRevision: profile.revision, locale: 'en-US', timezone: 'Europe/Lisbon' };
  await on.keep('me.change', { body: change }, session);
  const [, other] = await on.keep('me.sessions', {}, session);
  await on.keep('me.endSession', { params: { id: other.id } }, session);
  await on.keep('me.endOtherSessions', {}, session);
  await on.keep(
    'me.changePassword',
    { body: { oldPassword: password, newPassword: 'a new and longer password' } },
    session,
  );
  await on.keep('session.delete', {}, session);
}

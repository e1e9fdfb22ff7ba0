/** Example calls for records, articles, imports and exports, recorded into the OpenAPI documents. */
import { givePlaces } from '../../src/platform/journal/places.ts';
import type { Recorder } from './examples-recorder.ts';
import type { People } from './examples-administration.ts';

export const ADMIN_PASSWORD = 'correct horse battery staple';

/** Applied in addition to the starter configuration. */
export const EXAMPLE_CONFIGURATION = [
  {
    name: 'world.yaml',
    text: `
settings: { defaultLocale: en-US, timezone: Europe/London }
users:
  - { login: admin, displayName: Administrator, email: admin@example.org, locale: en-US, timezone: Europe/London }
  - { login: anna, displayName: Anna Petrova, email: anna@example.org, locale: en-US, timezone: Europe/London }
types:
  - code: announcement
    name: Announcement
    title: title
    fields:
      - { code: title, name: Title, dataType: string, required: true }
      - { code: text, name: Text, dataType: rich-text }
roles:
  - code: editor
    name: Editor
    records: [{ type: announcement, actions: [read, create, update], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [admin] }
  - code: requester
    name: Requester
    records:
      - type: request
        where: { field: requester, operator: equals, value: $me }
        actions: [read, create]
        fields: { read: [title, description, neededBy], write: [title, description, neededBy] }
    assignedTo: { users: [anna] }
mailboxes:
  - { code: support, address: support@example.org, type: incident, authServer: mx.example.org, enabled: true }
knowledgeBases:
  - code: it
    name: IT
    visibility: internal
    locales: [en-US]
    sections: [{ code: network, name: Network }]
services:
  - { code: workplace, name: Workplace, description: Computers and accessories, audience: { everyone: true } }
catalogs:
  - code: main
    name: Service catalogue
    active: true
    categories: [{ code: hardware, name: Hardware }]
    items:
      - code: new-laptop
        name: New laptop
        description: A laptop for an employee
        category: hardware
        service: workplace
        type: request
        form: [{ code: title, required: true }, { code: description }, { code: neededBy }]
        requesterField: requester
        set: { priority: p3 }
        audience: { everyone: true }
`,
  },
];

const GIF = 'R0lGODlhAQABAAAAADs=';

export async function objectExamples(on: Recorder, { admin, anna }: People): Promise<void> {
  await on.keep('metadata.types');
  await on.keep('metadata.fields', { params: { typeId: 'incident' } });
  const values = {
    title: 'The printer on floor 3 does not print',
    description: 'The display says "Replace toner". The spare toner is in room 310.',
    priority: 'p2',
    requester: anna,
  };
  const incident = await on.keep('objects.create', { body: { typeDefinitionId: 'incident', values } });
  const other = await on.make('objects.create', {
    body: {
      typeDefinitionId: 'incident',
      values: { title: 'The printer in the lobby is out of paper', priority: 'p4' },
    },
  });
  const params = { objectId: incident.id };
  await on.keep('objects.list', { query: { typeId: 'incident', state: 'new', page: 1, pageSize: 25 } });
  await on.keep('objects.get', { params });
  await on.keep('objects.schema', { params });
  await on.keep('desk.permissions', { params });
  await on.keep('desk.requester', { params });
  await on.keep('desk.mentionable', { params, query: { q: 'ann' } });
  const macros = await on.keep('desk.macros', { params });
  await macroStory(on, macros.find(({ code }: { code: string }) => code === 'raise-priority').id);
  await on.keep('objects.update', { params, body: { expectedRevision: 1, changes: { priority: 'p1' } } });
  await slaStory(on, incident.id);
  const { state, transitions } = await on.keep('workflow.get', { params });
  const transitionId = transitions.find(({ code }: { code: string }) => code === 'take').id;
  await on.keep('workflow.transition', {
    params,
    body: { transitionId, expectedRevision: 2, expectedStateId: state.id, values: { assignee: admin } },
  });
  const body = 'The toner was replaced. Please try again.';
  const comment = await on.keep('comments.add', { params, body: { body, visibility: 'public' } });
  await on.keep('comments.list', { params });
  await on.keep('comments.edit', {
    params: { commentId: comment.id },
    body: { expectedRevision: 1, body: `${body} The new toner lasts until March.` },
  });
  await on.keep('comments.archive', { params: { commentId: comment.id }, body: { expectedRevision: 2 } });
  const contentBase64 = Buffer.from('toner: 0 %\n').toString('base64');
  const file = await on.keep('attachments.add', {
    params,
    body: { filename: 'status.txt', mediaType: 'text/plain', contentBase64 },
  });
  await on.keep('attachments.list', { params });
  await on.keep('attachments.content', { params: { attachmentId: file.id } });
  await on.keep('attachments.archive', { params: { attachmentId: file.id }, body: { expectedRevision: 1 } });
  const definitions = await on.keep('relations.definitions', { query: { sourceObjectId: incident.id } });
  const definitionId = definitions.find(({ code }: { code: string }) => code === 'related-to').id;
  const { relation } = await on.keep('relations.add', { params, body: { definitionId, targetObjectId: other.id } });
  await on.keep('relations.list', { params, query: { direction: 'outgoing' } });
  await on.keep('relations.archive', { params: { relationId: relation.id }, body: { expectedRevision: 1 } });
  await on.keep('notifications.watch.set', { params });
  await on.keep('notifications.watch.get', { params });
  await on.keep('notifications.explain', { body: { objectId: params.objectId } });
  await on.keep('notifications.watch.end', { params });
  await on.keep('objects.history', { params });
  await givePlaces(on.app.db);
  await on.keep('feed.read', { query: { eventTypes: 'ObjectCreated,CommentAdded', types: 'incident', limit: 2 } });
  await on.keep('objects.diff', { params, query: { from: 1, to: 3 } });
  const changes = { priority: 'p3' };
  await on.keep('bulk.run', {
    body: {
      operation: 'update',
      items: [
        { objectId: other.id, expectedRevision: 1, changes },
        { objectId: incident.id, expectedRevision: 1, changes },
      ],
    },
  });
  await on.keep('search.search', { query: { q: 'printers', kinds: 'object', page: 1, pageSize: 25 } });
  await on.keep('desk.objects', { query: { typeId: 'incident', sort: '-updatedAt', page: 1, pageSize: 25 } });
  await on.keep('desk.export', {
    body: {
      format: 'CSV',
      title: 'Incidents',
      typeId: 'incident',
      sort: '-updatedAt',
      columns: [
        { code: 'number', name: 'Number' },
        { code: 'title', name: 'Title' },
        { code: 'sla.remaining', name: 'Time left, hours' },
      ],
      timeZone: 'Europe/Berlin',
      words: { yes: 'Yes', no: 'No' },
    },
  });
  await on.keep('desk.labels', { query: { ids: `${incident.id},${anna}` } });
  await on.keep('access.explanation', { query: { userId: anna, objectId: incident.id } });
  await on.keep('access.explainRequest', {
    body: {
      user: anna,
      method: 'PATCH',
      path: `/api/v1/objects/${incident.id}`,
      body: { expectedRevision: 1, changes: { priority: 'p1' } },
    },
  });
  await on.keep('objects.archive', { params: { objectId: other.id }, body: { expectedRevision: 2 } });
  await on.keep('objects.restore', { params: { objectId: other.id } });
  await imageStory(on);
  await catalogueStory(on, anna);
}

/** On two other records, so that the revisions of the main one stay as they are. */
async function macroStory(on: Recorder, macroId: string): Promise<void> {
  const make = async (title: string): Promise<string> =>
    (await on.make('objects.create', { body: { typeDefinitionId: 'incident', values: { title, priority: 'p3' } } })).id;
  const first = await make('No network in the meeting room');
  const duplicate = await make('The meeting room has no Wi-Fi');
  await on.keep('desk.applyMacro', { params: { objectId: first }, body: { macroId, expectedRevision: 1 } });
  const params = { objectId: duplicate };
  await on.keep('desk.offerMerge', { params });
  const comment = { visibility: 'public', body: 'We already work on this problem in INC0000004.' };
  await on.keep('desk.merge', {
    params,
    body: { expectedRevision: 1, targetObjectId: first, close: true, comment },
  });
}

async function slaStory(on: Recorder, objectId: string): Promise<void> {
  const instances = await on.keep('sla.list', { params: { objectId } });
  const { id: instanceId, revision } = instances.find(
    ({ policyCode }: { policyCode: string }) => policyCode === 'incident-resolution',
  );
  await on.keep('sla.command', { params: { instanceId, command: 'pause' }, body: { expectedRevision: revision } });
  await on.keep('sla.history', { params: { instanceId } });
  await on.keep('sla.explanation', { params: { instanceId } });
  const openedAt = '2026-11-23T09:00:00.000Z';
  await on.keep('sla.try', { body: { openedAt, policy: 'incident-resolution', values: { priority: 'p1' } } });
  await on.keep('sla.preview', { body: { calendar: 'office', from: '2026-12-31', days: 2 } });
}

async function imageStory(on: Recorder): Promise<void> {
  const image = { type: 'image', attrs: { src: `data:image/gif;base64,${GIF}` } };
  const text = { type: 'doc', content: [image] };
  const { id, values } = await on.make('objects.create', {
    body: { typeDefinitionId: 'announcement', values: { title: 'New printers', text } },
  });
  const sha256 = values.text.content[0].attrs.src.slice('blob:'.length);
  await on.keep('objects.image', { params: { objectId: id, sha256 } });
}

async function catalogueStory(on: Recorder, anna: string): Promise<void> {
  const [service] = await on.keep('services.list', { query: { locale: 'en-US' } });
  await on.keep('services.get', { params: { serviceId: service.id }, query: { locale: 'en-US' } });
  const { items } = await on.keep('catalog.get', { query: { locale: 'en-US' } });
  await on.keep('catalog.request', {
    params: { itemId: items[0].id },
    body: { requesterId: anna, values: { title: 'A laptop for the new colleague', neededBy: '2026-12-07' } },
  });
}

export async function knowledgeExamples(on: Recorder): Promise<void> {
  await on.keep('kb.bases', { query: { locale: 'en-US' } });
  const draft = await on.keep('kb.create', {
    body: {
      baseId: 'it',
      sectionId: 'network',
      code: 'vpn-setup',
      title: 'Set up the VPN',
      locale: 'en-US',
      visibility: 'internal',
      summary: 'How to install and start the VPN client.',
      tags: ['vpn', 'remote'],
      body: `1. Install the client.\n2. Sign in with your account.\n\n![The sign-in window](data:image/gif;base64,${GIF})`,
    },
  });
  const params = { versionId: draft.versionId };
  await on.keep('kb.edit', { params, body: { summary: 'How to install the VPN client and connect.' } });
  await on.keep('kb.set-audiences', { params, body: { audiences: [{ kind: 'everyone' }] } });
  await on.keep('kb.audiences', { params });
  const { bodyDocument } = await on.keep('kb.version', { params });
  await on.keep('kb.versions', { query: { state: 'DRAFT', baseId: 'it', page: 1, pageSize: 25 } });
  await on.keep('kb.publish', { body: params });
  await on.keep('kb.list', { query: { locale: 'en-US' } });
  const article = { articleId: draft.id };
  await on.keep('kb.get', { params: article, query: { locale: 'en-US' } });
  const [, sha256 = ''] = /blob:([0-9a-f]{64})/.exec(JSON.stringify(bodyDocument)) ?? [];
  await on.keep('kb.image', { params: { ...article, sha256 } });
  await on.keep('kb.view', { params: article });
  await on.keep('kb.vote', { params: article, body: { helpful: true } });
  await on.keep('kb.contents', { query: { locale: 'en-US' } });
  await on.keep('kb.browse', { query: { sort: 'popular', locale: 'en-US', page: 1, pageSize: 25 } });
  await on.keep('kb.review', { params: article, body: { reviewOn: '2027-05-31' } });
  await on.keep('kb.draft', {
    body: {
      baseId: 'it',
      sectionId: 'network',
      title: 'Connect to the guest Wi-Fi',
      locale: 'en-US',
      audiences: [{ kind: 'everyone' }],
      body: 'Choose the network **Guests** and enter the code of the day.',
    },
  });
  const { version } = await on.keep('kb.material', { params: article, query: { locale: 'en-US' } });
  await on.keep('kb.archive', { body: { ...params, version, confirmed: true } });
  await on.keep('kb.restore', { params });
}

export async function importExportExamples(on: Recorder): Promise<void> {
  const definition = await on.keep('imports.define', {
    body: {
      code: 'old-desk',
      name: 'Tickets of the old desk',
      targetKind: 'object',
      targetTypeId: 'incident',
      format: 'CSV',
      mode: 'UPSERT',
      sourceCode: 'old-desk',
      resolver: { externalIdField: 'number' },
      mapping: [
        { source: 'summary', target: 'title', transform: 'trim' },
        { source: 'prio', target: 'priority', transform: 'map:{"2 - High":"p2","3 - Moderate":"p3"}' },
      ],
    },
  });
  await on.keep('imports.definitions');
  const content = 'number;summary;prio\nT-1;Mail is slow;3 - Moderate\nT-2;The screen flickers;9 - Unknown\n';
  const given = { definitionId: definition.id, content };
  await on.keep('imports.preview', { body: { ...given, limit: 100 } });
  const run = await on.keep('imports.run', { body: { ...given, dryRun: false } });
  await on.keep('imports.get', { params: { runId: run.id } });
  await on.keep('imports.list', { query: { page: 1, pageSize: 25 } });
  await on.keep('imports.undo', { params: { runId: run.id } });
  await on.keep('exports.create', {
    body: {
      typeDefinitionId: 'incident',
      format: 'JSON',
      limit: 100,
      query: { filter: { field: 'priority', operator: 'equals', value: 'p1' } },
    },
  });
}

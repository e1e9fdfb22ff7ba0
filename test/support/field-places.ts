/**
 * Every place of a bundle that depends on values of a field, by its path in the schema, with a bundle that names a hidden field
 * there. `src/configuration/field-places.test.ts` compares the table with the schemas; `test/bundle-hidden-fields.db.test.ts`
 * plans and applies each bundle.
 */

/** The fields of the record type `case` that the spy cannot read: `cost`, `memo`, `owner`, `asset` and `due`. */
export const HIDDEN_WORLD = `
types:
  - code: case
    workflow: flow
    title: title
    fields:
      - { code: title, dataType: string }
      - { code: kind, dataType: string }
      - { code: cost, dataType: integer, search: { filter: true } }
      - { code: memo, dataType: string, search: { filter: true } }
      - { code: owner, dataType: user }
      - { code: asset, dataType: reference, constraints: { types: [case] } }
      - { code: due, dataType: datetime }
workflows:
  - code: flow
    initial: new
    states: [ { code: new, category: open }, { code: done, category: done } ]
    transitions: [ { code: close, from: [new], to: done } ]
calendars: [ { code: always, timezone: UTC, week: { mon: ['00:00-24:00'] } } ]
signingSecrets: [ main ]
webhooks: [ { code: hook, endpoint: 'https://hooks.example.org/x', secretRef: main, executionPrincipal: spy, eventTypes: [], enabled: false } ]
`;

const CONDITION = '{ field: cost, operator: equals, value: 1 }';

const transition = (part: string): string =>
  `workflows: [ { code: flow, initial: new, states: [ { code: new, category: open }, { code: done, category: done } ], transitions: [ { code: close, from: [new], to: done, ${part} } ] } ]`;
const type = (title: string, more = ''): string => `types: [ { code: case, workflow: flow, title: ${title}, fields: [
  { code: title, dataType: string }, { code: kind, dataType: string }, { code: cost, dataType: integer, search: { filter: true }${more} },
  { code: memo, dataType: string, search: { filter: true } }, { code: owner, dataType: user }, { code: asset, dataType: reference, constraints: { types: [case] } },
  { code: due, dataType: datetime } ] } ]`;
const policy = (parts: { target?: string; start?: string; pause?: string; stop?: string }): string => {
  const open = '{ field: workflowState, operator: equals, value: new }';
  const {
    target = '{ duration: PT4H }',
    start = open,
    stop = '{ field: workflowState, operator: equals, value: done }',
  } = parts;
  const pause = parts.pause === undefined ? '' : `pause: ${parts.pause},`;
  return `slaPolicies: [ { code: soon, type: case, calendar: always, targets: [ ${target} ], start: ${start}, ${pause} stop: ${stop} } ]`;
};
const catalogue = (part: string): string =>
  `catalogs: [ { code: main, active: true, categories: [ { code: all } ], items: [ { code: ask, category: all, type: case, ${part} } ] } ]`;
const importing = (mapping: string): string =>
  `importDefinitions: [ { code: old, targetKind: object, targetType: case, format: CSV, mode: UPSERT, sourceCode: old, resolver: { externalIdField: id }, mapping: [ ${mapping} ] } ]`;
const tile = (query: string): string =>
  `dashboards: [ { code: board, tiles: [ { kind: table, title: Board, query: { types: [case], measures: [count], ${query} } } ] } ]`;
const rule = (part: string, on = 'on: [ObjectUpdated]'): string =>
  `rules: [ { code: react, types: [case], runAs: spy, ${on}, ${part} } ]`;
const action = (text: string): string => rule(`do: [ { ${text} } ]`);
const macro = (part: string): string => `macros: [ { code: reply, types: [case], ${part} } ]`;
const people = (part: string): string => `settings: { notificationFields: { ${part}: [owner] } }`;
const NOTIFY = "do: [ { comment: { visibility: internal, body: 'x' } } ]";
const SAYS_COST = "{ visibility: internal, body: '{{ cost }}' }";

/** Path in the schema → a bundle, and the path of the place in it. */
export const FIELD_PLACES: Readonly<Record<string, { bundle: string; at: string }>> = {
  'settings.notificationFields.assignee[]': {
    bundle: people('assignee'),
    at: 'settings.notificationFields.assignee.0',
  },
  'settings.notificationFields.group[]': { bundle: people('group'), at: 'settings.notificationFields.group.0' },
  'settings.notificationFields.requester[]': {
    bundle: people('requester'),
    at: 'settings.notificationFields.requester.0',
  },
  'workflows.transitions[].condition': {
    bundle: transition(`condition: ${CONDITION}`),
    at: 'workflows.flow.transitions.close.condition',
  },
  'workflows.transitions[].fields[].code': {
    bundle: transition('fields: [ { code: cost, required: true } ]'),
    at: 'workflows.flow.transitions.close.fields.cost.code',
  },
  'workflows.transitions[].set': { bundle: transition('set: { cost: 1 }'), at: 'workflows.flow.transitions.close.set' },
  'types.title': { bundle: type('memo'), at: 'types.case.title' },
  'types.fields[].role': {
    bundle: type('title').replace('dataType: user }', 'dataType: user, role: requester }'),
    at: 'types.case.fields.owner.role',
  },
  'types.fields[].default': { bundle: type('title', ', default: 1'), at: 'types.case.fields.cost.default' },
  'roles.records[].where': {
    bundle: `roles: [ { code: readers, records: [ { type: case, where: ${CONDITION}, actions: [read], fields: { read: [title] } } ] } ]`,
    at: 'roles.readers.records.0.where',
  },
  'slaPolicies.targets[].when': {
    bundle: policy({ target: `{ when: ${CONDITION}, duration: PT4H }, { duration: PT8H }` }),
    at: 'slaPolicies.soon.targets.0.when',
  },
  'slaPolicies.start': { bundle: policy({ start: CONDITION }), at: 'slaPolicies.soon.start' },
  'slaPolicies.pause': { bundle: policy({ pause: CONDITION }), at: 'slaPolicies.soon.pause' },
  'slaPolicies.stop': { bundle: policy({ stop: CONDITION }), at: 'slaPolicies.soon.stop' },
  'relationDefinitions.field': {
    bundle: 'relationDefinitions: [ { code: uses, sourceTypes: [case], targetTypes: [case], field: asset } ]',
    at: 'relationDefinitions.uses.field',
  },
  'catalogs.items[].requesterField': {
    bundle: catalogue('requesterField: owner'),
    at: 'catalogs.main.items.ask.requesterField',
  },
  'catalogs.items[].assetField': { bundle: catalogue('assetField: asset'), at: 'catalogs.main.items.ask.assetField' },
  'catalogs.items[].set': { bundle: catalogue('set: { cost: 1 }'), at: 'catalogs.main.items.ask.set' },
  'webhooks.filters.condition': {
    bundle: `webhooks: [ { code: other, endpoint: 'https://hooks.example.org/y', secretRef: main, executionPrincipal: spy, eventTypes: [ObjectUpdated], filters: { types: [case], condition: ${CONDITION} }, enabled: false } ]`,
    at: 'webhooks.other.filters.condition',
  },
  'integrations.config.mapping[].target': {
    bundle:
      'integrations: [ { code: alarm, type: inbound-webhook, executionPrincipal: spy, config: { command: object.create, typeDefinitionId: case, mapping: [ { source: a, target: title }, { source: b, target: cost } ] } } ]',
    at: 'integrations.alarm.config.mapping.1.target',
  },
  'importDefinitions.mapping[].target': {
    bundle: importing('{ source: a, target: title }, { source: b, target: cost }'),
    at: 'importDefinitions.old.mapping.1.target',
  },
  'importDefinitions.mapping[].transform': {
    bundle: importing("{ source: a, target: title, transform: [ trim, 'lookup:case.memo' ] }"),
    at: 'importDefinitions.old.mapping.0.transform',
  },
  'dashboards.tiles[].query.filter': {
    bundle: tile(`filter: ${CONDITION}`),
    at: 'dashboards.board.tiles.0.query.filter',
  },
  'dashboards.tiles[].query.groupBy': { bundle: tile('groupBy: [memo]'), at: 'dashboards.board.tiles.0.query.groupBy' },
  'macros.comment.body': { bundle: macro(`comment: ${SAYS_COST}`), at: 'macros.reply.comment.body' },
  'macros.set': { bundle: macro('set: { cost: 1 }'), at: 'macros.reply.set' },
  'rules.after.since': { bundle: rule(NOTIFY, 'after: { duration: PT1H, since: due }'), at: 'rules.react.after.since' },
  'rules.after.while': {
    bundle: rule(NOTIFY, `after: { duration: PT1H, since: workflowState, while: ${CONDITION} }`),
    at: 'rules.react.after.while',
  },
  'rules.when': {
    bundle: rule(`when: { field: changed, operator: contains, value: cost }, ${NOTIFY}`),
    at: 'rules.react.when',
  },
  'rules.do[].set': { bundle: action('set: { cost: 1 }'), at: 'rules.react.do.0.set' },
  'rules.do[].comment.body': { bundle: action(`comment: ${SAYS_COST}`), at: 'rules.react.do.0.comment.body' },
  'rules.do[].reason': {
    bundle: action("transition: close, reason: '{{ memo }}'"),
    at: 'rules.react.do.0.reason',
  },
  'rules.do[].create.values': {
    bundle: action("create: { type: case, values: { title: '{{ memo }}' } }"),
    at: 'rules.react.do.0.create.values',
  },
  'rules.do[].post.body': {
    bundle: action("post: { connection: hook, body: { text: '{{ memo }}' } }"),
    at: 'rules.react.do.0.post.body',
  },
  'rules.do[].notify.to[]': { bundle: action('notify: { to: [owner] }'), at: 'rules.react.do.0.notify.to.0' },
  'templates.subject': {
    bundle: "templates: [ { code: reply, subject: '{{ memo }}', body: Hello } ]",
    at: 'templates.reply.subject',
  },
  'templates.body': {
    bundle: "templates: [ { code: reply, subject: Hello, body: { en-US: '{{ memo }}' } } ]",
    at: 'templates.reply.body',
  },
  'mailboxes.defaults': {
    bundle: 'mailboxes: [ { code: desk, address: desk@example.org, type: case, defaults: { cost: 1 } } ]',
    at: 'mailboxes.desk.defaults',
  },
};

/** Validation of the sections that domain modules define (docs/spec/configuration.md#bundle). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { file, problemsOf } from './support/bundle-fixture.ts';

/** What the tested items refer to. */
const GROUND = `
types:
  - code: incident
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { code: priority, dataType: enum, constraints: { options: [ { code: p1 }, { code: p2 } ] } }
      - { code: requester, dataType: user, search: { filter: true } }
      - { code: affected, dataType: reference, multiple: true }
  - { code: problem, fields: [ { code: title, dataType: string } ] }
workflows: [ { code: flow, initial: new, states: [ { code: new, category: open }, { code: done, category: done } ], transitions: [ { code: t, from: [new], to: done } ] } ]
users: [ { login: anna } ]
`;

const calendar =
  "calendars: [ { code: office, timezone: Europe/Moscow, week: { mon: ['09:00-13:00', '14:00-24:00'] } } ]\n";

const policy = (parts: string): string =>
  `${calendar}slaPolicies: [ { code: p, type: incident, calendar: office, targets: [ { duration: PT4H } ], start: { field: priority, operator: equals, value: p1 }, stop: { field: workflowState, operator: equals, value: done }, ${parts} } ]`;

const item = (parts: string): string =>
  `services: [ { code: laptop } ]\ncatalogs: [ { code: main, categories: [ { code: hw } ], items: [ { code: new, category: hw, type: incident, ${parts} } ] } ]`;

const hook = (parts: string): string =>
  `signingSecrets: [main]\nwebhooks: [ { ${parts.includes('code:') ? '' : 'code: h, '}secretRef: main, executionPrincipal: anna, eventTypes: [ObjectCreated], ${parts.includes('endpoint') ? '' : "endpoint: 'https://hooks.example.org/docket', "}${parts.includes('enabled') ? '' : 'enabled: false, '}${parts} } ]`;

const inbound = (config: string): string =>
  `integrations: [ { code: i, type: inbound-webhook, executionPrincipal: anna, config: { ${config} } } ]`;

const imported = (mapping: string, parts = 'targetKind: object, targetType: incident'): string =>
  `importDefinitions: [ { code: s, ${parts}, format: CSV, mode: UPSERT, sourceCode: snow, resolver: { externalIdField: number }, mapping: [ ${mapping} ] } ]`;

const dashboard = (kind: string, tile: string, parts = ''): string =>
  `roles: [ { code: lead } ]\ndashboards: [ { code: d, tiles: [ { kind: ${kind}, title: T, ${tile} } ]${parts} } ]`;
const macro = (parts: string): string => `macros: [ { code: m, ${parts} } ]`;

const CASES: readonly [name: string, text: string, problems: string[]][] = [
  [
    'a sound dashboard',
    dashboard(
      'line',
      'query: { types: [incident], measures: [count, timeToDone.p90], groupBy: [createdAt.week], filter: { field: requester, operator: equals, value: anna }, period: { of: doneAt, lastDays: 30 }, timeZone: Europe/Berlin }, width: 4',
      ', sharedWith: { roles: [lead] }',
    ),
    [],
  ],
  [
    'a dashboard about nothing',
    dashboard(
      'table',
      'query: { types: [ticket], measures: [count] }',
      ', sharedWith: { roles: [boss], groups: [all] }',
    ),
    [
      'dashboards[0].sharedWith.roles[0] UNKNOWN_REFERENCE',
      'dashboards[0].sharedWith.groups[0] UNKNOWN_REFERENCE',
      'dashboards[0].tiles[0].query.types[0] UNKNOWN_REFERENCE',
    ],
  ],
  [
    'a tile with unknown measures, groups and a reversed period',
    dashboard(
      'table',
      "query: { types: [incident], measures: [count], groupBy: [colour, createdAt.day], period: { from: '2026-02-01', to: '2026-01-01' } }",
    ),
    ['dashboards[0].tiles[0].query.groupBy[0] UNKNOWN_FIELD', 'dashboards[0].tiles[0].query.period.to INVALID_PERIOD'],
  ],
  [
    'a tile with an unknown measure',
    dashboard('table', 'query: { types: [incident], measures: [speed] }'),
    ['dashboards[0].tiles[0].query.measures[0] NOT_ALLOWED'],
  ],
  [
    'a tile whose filter names a field that is not filterable',
    dashboard(
      'table',
      'query: { types: [incident], measures: [count], filter: { field: priority, operator: equals, value: p1 } }',
    ),
    ['dashboards[0].tiles[0].query.filter.field UNKNOWN_FIELD'],
  ],
  [
    'a tile whose filter names nobody',
    dashboard(
      'table',
      'query: { types: [incident], measures: [count], filter: { field: requester, operator: equals, value: nobody } }',
    ),
    ['dashboards[0].tiles[0].query.filter.value UNKNOWN_REFERENCE'],
  ],
  [
    'a number with groups',
    dashboard('number', 'query: { types: [incident], measures: [count], groupBy: [priority] }'),
    ['dashboards[0].tiles[0].query.groupBy NOT_ALLOWED'],
  ],
  [
    'a line over options',
    dashboard('line', 'query: { types: [incident], measures: [count], groupBy: [priority] }'),
    ['dashboards[0].tiles[0].query.groupBy[0] NOT_ALLOWED'],
  ],
  [
    'bars without groups',
    dashboard('bars', 'query: { types: [incident], measures: [count] }'),
    ['dashboards[0].tiles[0].query REQUIRED'],
  ],
  [
    'a tile that is wider than a row',
    dashboard('table', 'query: { types: [incident], measures: [count] }, width: 5'),
    ['dashboards[0].tiles[0].width TOO_LARGE'],
  ],
  [
    'a sound policy',
    policy('pause: { field: workflowCategory, operator: equals, value: waiting }, warnAt: [90, 50]'),
    [],
  ],
  [
    'a policy on nothing',
    policy('').replace('type: incident', 'type: ticket').replace('calendar: office', 'calendar: home'),
    ['slaPolicies[0].type UNKNOWN_REFERENCE', 'slaPolicies[0].calendar UNKNOWN_REFERENCE'],
  ],
  [
    'a duration that calendars disagree on',
    policy('').replace('PT4H', 'P1D'),
    ['slaPolicies[0].targets[0].duration WRONG_FORMAT'],
  ],
  [
    'a target behind one that fits always',
    policy('').replace('{ duration: PT4H }', '{ duration: PT4H }, { duration: PT8H }'),
    ['slaPolicies[0].targets[0] NEVER_REACHED'],
  ],
  [
    'a policy on an unknown state',
    policy('pause: { field: workflowState, operator: equals, value: waiting }'),
    ['slaPolicies[0].pause.value UNKNOWN_OPTION'],
  ],
  [
    'a target on an unknown option',
    policy('').replace(
      '{ duration: PT4H }',
      '{ when: { field: priority, operator: equals, value: p9 }, duration: PT4H }',
    ),
    ['slaPolicies[0].targets[0].when.value UNKNOWN_OPTION'],
  ],
  ['a warning after the end', policy('warnAt: [101]'), ['slaPolicies[0].warnAt[0] TOO_LARGE']],
  [
    'a sound relation',
    'relationDefinitions: [ { code: r, sourceTypes: [incident], targetTypes: [problem], field: affected } ]',
    [],
  ],
  [
    'a relation held by a field that is not a reference',
    'relationDefinitions: [ { code: r, sourceTypes: [incident, problem], targetTypes: [problem], field: title } ]',
    ['relationDefinitions[0].field NOT_ALLOWED', 'relationDefinitions[0].field NOT_ALLOWED'],
  ],
  [
    'a relation of no type',
    'relationDefinitions: [ { code: r, sourceTypes: [ticket], targetTypes: [], cardinality: few } ]',
    ['relationDefinitions[0].targetTypes TOO_FEW', 'relationDefinitions[0].cardinality NOT_ALLOWED'],
  ],
  [
    'a sound catalogue item',
    item(
      'service: laptop, form: [ { code: title, required: true } ], requesterField: requester, assetField: affected, set: { priority: p1 }, audience: { users: [anna] }',
    ),
    [],
  ],
  [
    'a catalogue item with nothing right',
    item(
      'service: tablet, form: [ { code: model } ], requesterField: title, assetField: requester, set: { priority: p9 }, audience: { everyone: true, groups: [g] }',
    ).replace('category: hw', 'category: sw'),
    [
      'catalogs[0].items[0].service UNKNOWN_REFERENCE',
      'catalogs[0].items[0].category UNKNOWN_REFERENCE',
      'catalogs[0].items[0].form[0].code UNKNOWN_FIELD',
      'catalogs[0].items[0].requesterField NOT_ALLOWED',
      'catalogs[0].items[0].assetField NOT_ALLOWED',
      'catalogs[0].items[0].set.priority NOT_AN_OPTION',
      'catalogs[0].items[0].audience.groups NOT_ALLOWED',
      'catalogs[0].items[0].audience.groups[0] UNKNOWN_REFERENCE',
    ],
  ],
  [
    'two active catalogues',
    'catalogs: [ { code: a }, { code: b, active: false }, { code: c } ]',
    ['catalogs[2].active NOT_ALLOWED'],
  ],
  [
    'sections of a base in a ring',
    'knowledgeBases: [ { code: it, visibility: internal, locales: [ru-RU], sections: [ { code: a, parent: b }, { code: b, parent: a }, { code: c, parent: d } ] } ]',
    [
      'knowledgeBases[0].sections[0].parent CYCLE',
      'knowledgeBases[0].sections[1].parent CYCLE',
      'knowledgeBases[0].sections[2].parent UNKNOWN_REFERENCE',
    ],
  ],
  [
    'a sound webhook',
    hook(
      'filters: { types: [incident], condition: { field: requester, operator: equals, value: anna } }, retryPolicy: { maxAttempts: 10, baseDelayMs: 3600000 }',
    ),
    [],
  ],
  ['a webhook without https', hook("endpoint: 'http://hooks.example.org/x'"), ['webhooks[0].endpoint WRONG_FORMAT']],
  [
    'a webhook with a password',
    hook("endpoint: 'https://me:secret@hooks.example.org/x'"),
    ['webhooks[0].endpoint WRONG_FORMAT'],
  ],
  ['a webhook with a query', hook("endpoint: 'https://hooks.example.org/x?'"), ['webhooks[0].endpoint WRONG_FORMAT']],
  [
    'a webhook with an unknown secret, person and event',
    hook('').replace('main, exec', 'other, exec').replace('anna', 'boris').replace('ObjectCreated', 'ObjectMade'),
    ['webhooks[0].eventTypes[0] NOT_ALLOWED'],
  ],
  [
    'a webhook with an unknown secret and person',
    hook('').replace('main, exec', 'other, exec').replace('anna', 'boris'),
    ['webhooks[0].secretRef UNKNOWN_REFERENCE', 'webhooks[0].executionPrincipal UNKNOWN_REFERENCE'],
  ],
  [
    'a webhook filter on a field that one type has',
    hook('filters: { condition: { field: priority, operator: is-empty } }'),
    [],
  ],
  [
    'a webhook filter on a field that no type has',
    hook('filters: { condition: { field: urgency, operator: is-empty } }'),
    ['webhooks[0].filters.condition.field UNKNOWN_FIELD'],
  ],
  [
    'a retry policy out of range',
    hook('retryPolicy: { maxAttempts: 11, baseDelayMs: 0 }'),
    ['webhooks[0].retryPolicy.maxAttempts TOO_LARGE', 'webhooks[0].retryPolicy.baseDelayMs TOO_SMALL'],
  ],
  [
    'a webhook enabled before its secret has a value',
    hook('enabled: true'),
    ['webhooks[0].enabled SECRET_WITHOUT_VALUE'],
  ],
  ['a secret in a bundle', 'signingSecrets: [ { code: main, value: whsec_x } ]', ['signingSecrets[0] WRONG_TYPE']],
  [
    'a sound integration',
    inbound(
      'command: object.create, typeDefinitionId: incident, mapping: [ { source: alert.summary, target: title } ]',
    ),
    [],
  ],
  [
    'a creation of no type, with an unknown target',
    inbound('command: object.create, mapping: [ { source: a, target: state } ]'),
    ['integrations[0].config.typeDefinitionId REQUIRED', 'integrations[0].config.mapping[0].target UNKNOWN_FIELD'],
  ],
  [
    'an update that lacks its needs',
    inbound('command: object.update, mapping: [ { source: a, target: objectId } ]'),
    ['integrations[0].config.mapping REQUIRED', 'integrations[0].config.mapping REQUIRED'],
  ],
  [
    'a comment with fields',
    inbound(
      'command: comment.add, mapping: [ { source: a, target: objectId }, { source: b, target: body }, { source: c, target: title } ]',
    ),
    ['integrations[0].config.mapping[2].target UNKNOWN_FIELD'],
  ],
  [
    'an integration of another kind, with a broken path',
    inbound('command: object.create, typeDefinitionId: incident, mapping: [ { source: a..b, target: title } ]').replace(
      'inbound-webhook',
      'poll',
    ),
    ['integrations[0].type NOT_ALLOWED', 'integrations[0].config.mapping[0].source WRONG_FORMAT'],
  ],
  [
    'a sound import',
    imported(
      "{ source: short_description, target: title, transform: trim }, { source: who, target: requester, transform: [ trim, 'user:login' ], precedence: 1 }, { source: p, target: priority, transform: ['map:{\"1\":\"p1\"}', 'default:p2'] }, { source: d, target: affected, transform: ['split:;', 'lookup:problem.title'] }",
    ),
    [],
  ],
  [
    'transforms that are none',
    imported(
      "{ source: a, target: title, transform: shout }, { source: b, target: title, transform: ['date:', 'datetime:YYYY@Mars/Base', 'map:[1]', 'lookup:ticket.title', 'lookup:problem.name', 'user:email', split] }",
    ),
    [
      'importDefinitions[0].mapping[0].transform[0] INVALID_TRANSFORM',
      ...Array.from({ length: 7 }, (_, at) => `importDefinitions[0].mapping[1].transform[${at}] INVALID_TRANSFORM`),
    ],
  ],
  [
    'an import into nothing',
    imported('{ source: a, target: weight }').replace('targetType: incident', 'targetType: ticket'),
    ['importDefinitions[0].targetType UNKNOWN_REFERENCE'],
  ],
  [
    'an import of an unknown field',
    imported('{ source: a, target: weight }'),
    ['importDefinitions[0].mapping[0].target UNKNOWN_FIELD'],
  ],
  [
    'an import of people with a password',
    imported('{ source: a, target: login }, { source: b, target: password }', 'targetKind: user'),
    ['importDefinitions[0].mapping[1].target UNKNOWN_FIELD'],
  ],
  [
    'an import without the column of the external id',
    imported('{ source: a, target: title }').replace('resolver: { externalIdField: number }', 'resolver: {}'),
    ['importDefinitions[0].resolver.externalIdField REQUIRED'],
  ],
  [
    'a sound macro',
    macro(
      "types: [incident], comment: { visibility: public, body: '{{ title }} {{ $me }}' }, transition: t, set: { priority: p1 }",
    ),
    [],
  ],
  [
    'a macro on nothing',
    macro('types: [ticket], roles: [nobody], transition: t'),
    ['macros[0].types[0] UNKNOWN_REFERENCE', 'macros[0].roles[0] UNKNOWN_REFERENCE'],
  ],
  ['a macro that does nothing', macro('types: [incident]'), ['macros[0] REQUIRED']],
  [
    'a macro with a transition that a type lacks',
    macro('types: [incident, problem], transition: t'),
    ['macros[0].transition UNKNOWN_NAME'],
  ],
  [
    'a macro with wrong fields, values and names',
    macro(
      "types: [incident], comment: { visibility: public, body: { en-US: '{{ cost }}', ru-RU: '{{ title }}' } }, transition: t, set: { priority: p9, weight: 1, $reason: x }",
    ),
    [
      'macros[0].comment.body.en-US UNKNOWN_FIELD',
      'macros[0].set.$reason UNKNOWN_FIELD',
      'macros[0].set.priority NOT_AN_OPTION',
      'macros[0].set.weight UNKNOWN_FIELD',
    ],
  ],
  [
    'a macro with a wrong visibility',
    macro('types: [incident], comment: { visibility: secret, body: x }'),
    ['macros[0].comment.visibility NOT_ALLOWED'],
  ],
  ['sound synonyms', 'synonyms: [ [ютуб, YouTube], [вайфай, wi-fi], [office365, офис] ]', []],
  [
    'synonyms that are no single words, and forms of one word',
    "synonyms: [ [vpn, private network, '!!'], [принтер, принтеры], [one] ]",
    ['synonyms[0][1] WRONG_FORMAT', 'synonyms[0][2] WRONG_FORMAT', 'synonyms[1][1] NOT_UNIQUE', 'synonyms[2] TOO_FEW'],
  ],
  [
    'two groups of synonyms with the same first word',
    'synonyms: [ [vpn, впн], [VPN, tunnel] ]',
    ['synonyms[1] DUPLICATE'],
  ],
];

describe('sections of the remaining modules', () => {
  for (const [name, text, expected] of CASES) {
    it(`checks ${name}`, async () => {
      const problems = await problemsOf([...file(text), { name: 'z-ground.yaml', text: GROUND }]);
      assert.deepEqual(problems.map((problem) => `${problem.path} ${problem.code}`).sort(), [...expected].sort());
    });
  }
});

/** Validation of the section `rules` (docs/spec/rules.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { file, problemsOf } from '../../../test/support/bundle-fixture.ts';
import type { Change, CompileView } from '../../configuration/section.ts';
import { rulesSection } from './config.ts';

/** What the tested rules refer to. */
const GROUND = `
types:
  - code: incident
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { code: planned, dataType: datetime }
      - { code: priority, dataType: enum, constraints: { options: [ { code: p1 }, { code: p2 } ] } }
  - { code: problem, fields: [ { code: title, dataType: string } ] }
workflows:
  - code: flow
    initial: new
    states: [ { code: new, category: open }, { code: done, category: done } ]
    transitions: [ { code: t, from: [new], to: done }, { code: why, from: [new], to: done, fields: [ { code: $reason, required: true } ] } ]
users: [ { login: anna }, { login: bob } ]
`;

const rule = (parts: string): string =>
  `rules: [ { code: r, types: [incident], runAs: anna, ${/\b(?:on|after):/.test(parts) ? '' : 'on: [ObjectCreated, ObjectUpdated], '}${parts} } ]`;

const CASES: readonly [name: string, text: string, problems: string[]][] = [
  [
    'a sound rule',
    `relationDefinitions: [ { code: caused-by, sourceTypes: [incident], targetTypes: [problem] } ]\n${rule(
      "when: { logic: AND, conditions: [ { field: changed, operator: contains, value: priority }, { field: event.actor, operator: not-equals, value: anna }, { field: priority, operator: equals, value: p1 } ] }, once: every-time, onError: refuse, do: [ { set: { priority: p2 } }, { comment: { visibility: internal, body: '{{ title }}' } }, { transition: t }, { create: { type: problem, relation: caused-by, values: { title: 'Cause of {{ title }}' } } } ]",
    )}`,
    [],
  ],
  [
    'a rule that names nothing that is there',
    'rules: [ { code: r, on: [ObjectCreated], types: [ticket], runAs: robot, do: [ { create: { type: task, relation: part-of } }, { notify: { to: [owner], template: gone } } ] } ]',
    [
      'rules[0].runAs UNKNOWN_REFERENCE',
      'rules[0].types[0] UNKNOWN_REFERENCE',
      'rules[0].do[0].create.type UNKNOWN_REFERENCE',
      'rules[0].do[0].create.relation UNKNOWN_REFERENCE',
      'rules[0].do[1].notify.template UNKNOWN_REFERENCE',
    ],
  ],
  [
    'a rule with unknown fields, states and events',
    rule(
      'on: [ObjectCreated, KeyCreated], when: { logic: OR, conditions: [ { field: weight, operator: equals, value: 1 }, { field: workflowState, operator: equals, value: gone }, { field: changed, operator: contains, value: weight } ] }, do: [ { set: { priority: p9 } } ]',
    ),
    ['rules[0].on[1] NOT_ALLOWED'],
  ],
  [
    'a condition of a rule on unknown fields and states',
    rule(
      'when: { logic: OR, conditions: [ { field: weight, operator: equals, value: 1 }, { field: workflowState, operator: equals, value: gone }, { field: changed, operator: contains, value: weight } ] }, do: [ { set: { priority: p9 } } ]',
    ),
    [
      'rules[0].when.conditions[0].field UNKNOWN_FIELD',
      'rules[0].when.conditions[1].value UNKNOWN_OPTION',
      'rules[0].when.conditions[2].value UNKNOWN_OPTION',
      'rules[0].do[0].set.priority NOT_AN_OPTION',
    ],
  ],
  [
    'actions of a rule that cannot work',
    `relationDefinitions: [ { code: caused-by, sourceTypes: [problem], targetTypes: [incident] } ]\n${rule(
      "do: [ { }, { transition: t, set: { priority: p1 } }, { transition: gone }, { comment: { visibility: public, body: '{{ cost }}' } }, { notify: { to: [title, gone] } }, { post: { connection: gone, body: { text: 'x', blocks: [ { text: '{{ cost }}' } ] } } }, { create: { type: incident, relation: caused-by, values: { title: '{{ cost }}', priority: '{{ title }}', weight: '{{ title }}' } } } ]",
    )}`,
    [
      'rules[0].do[0] INVALID',
      'rules[0].do[1] INVALID',
      'rules[0].do[2].transition UNKNOWN_NAME',
      'rules[0].do[3].comment.body UNKNOWN_FIELD',
      'rules[0].do[4].notify.to[0] WRONG_TYPE',
      'rules[0].do[4].notify.to[1] UNKNOWN_FIELD',
      'rules[0].do[5].post.body.blocks[0].text UNKNOWN_FIELD',
      'rules[0].do[5].post.connection UNKNOWN_REFERENCE',
      'rules[0].do[6].create.relation NOT_ALLOWED',
      'rules[0].do[6].create.values.priority NOT_ALLOWED',
      'rules[0].do[6].create.values.title UNKNOWN_FIELD',
      'rules[0].do[6].create.values.weight UNKNOWN_FIELD',
    ],
  ],
  [
    'a message through the webhook of another user',
    `signingSecrets: [main]
webhooks:
  - { code: own, endpoint: 'https://192.0.2.1/x', secretRef: main, executionPrincipal: anna, eventTypes: [], enabled: false }
  - { code: other, endpoint: 'https://192.0.2.1/x', secretRef: main, executionPrincipal: bob, eventTypes: [], enabled: false }
${rule("do: [ { post: { connection: own, body: { text: '{{ title }}' } } }, { post: { connection: other, body: { text: x } } } ]")}`,
    ['rules[0].do[1].post.connection NOT_ALLOWED'],
  ],
  [
    'a transition whose form needs a remark',
    rule('do: [ { transition: why } ]'),
    ['rules[0].do[0].transition REQUIRED'],
  ],
  [
    'a sound time-based rule',
    `calendars: [ { code: office, timezone: UTC, week: { mon: ['09:00-17:00'] } } ]\n${rule(
      'after: { duration: PT4H, calendar: office, since: planned, while: { field: workflowState, operator: equals, value: new } }, do: [ { transition: t } ]',
    )}`,
    [],
  ],
  [
    'a time-based rule that cannot work',
    rule(
      'after: { duration: P5D, calendar: office, since: priority, while: { field: event.via, operator: equals, value: api } }, do: [ { transition: t } ]',
    ),
    [
      'rules[0].after.calendar UNKNOWN_REFERENCE',
      'rules[0].after.duration WRONG_FORMAT',
      'rules[0].after.since WRONG_TYPE',
      'rules[0].after.while.field UNKNOWN_FIELD',
    ],
  ],
  [
    'a rule on events and on time',
    rule('on: [ObjectCreated], after: { duration: PT4H, since: workflowState }, do: [ { transition: t } ]'),
    ['rules[0] INVALID'],
  ],
];

describe('the section of rules', () => {
  for (const [name, text, expected] of CASES) {
    it(`checks ${name}`, async () => {
      const problems = await problemsOf([...file(text), { name: 'z-ground.yaml', text: GROUND }]);
      assert.deepEqual(problems.map((problem) => `${problem.path} ${problem.code}`).sort(), [...expected].sort());
    });
  }

  it('needs the right to manage webhooks for a rule that sends messages', () => {
    const view = { has: () => true, id: () => 'anna' } as unknown as CompileView;
    const rights = (action: Change['action'], post?: object): unknown => {
      const definition = { runAs: 'anna', do: [post === undefined ? { set: {} } : { post }] };
      return rulesSection.rights?.({ action, definition } as Change, view, 'anna');
    };
    const post = { connection: 'own', body: {} };
    assert.deepEqual([rights('create'), rights('create', post), rights('archive', post)], [[], ['webhook.manage'], []]);
  });
});

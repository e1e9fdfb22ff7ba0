/** Validation of the bundle's sections `templates` and `mailboxes`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { file, problemsOf } from '../../../test/support/bundle-fixture.ts';

const GROUND = `
types:
  - code: incident
    fields:
      - { code: title, dataType: string, required: true }
      - { code: priority, dataType: enum, constraints: { options: [ { code: p1 }, { code: p2 } ] } }
      - { code: requester, dataType: user, required: true }
  - { code: problem, fields: [ { code: title, dataType: string } ] }
`;

const mailbox = (parts: string): string => `mailboxes: [ { code: desk, type: incident, ${parts} } ]`;

const CASES: readonly [name: string, text: string, problems: string[]][] = [
  [
    'a sound template',
    "templates: [ { code: t, subject: '{{ number }} {{ title }}', body: { en-US: '{{ $comment }} [Open]({{$url}})', ru-RU: '{{ requester }}' } } ]",
    [],
  ],
  [
    'a template with unknown names',
    "templates: [ { code: t, subject: '{{ cost }}', body: { en-US: '{{ $secret }}', ru-RU: '{{ title }}' } } ]",
    ['templates[0].subject UNKNOWN_FIELD', 'templates[0].body.en-US UNKNOWN_FIELD'],
  ],
  ['a template without a body', 'templates: [ { code: t, subject: x } ]', ['templates[0].body REQUIRED']],
  [
    'a sound mailbox',
    mailbox(
      'address: support@example.org, defaults: { priority: p1 }, authServer: mx.example.org, unknownSender: create, enabled: true',
    ),
    [],
  ],
  [
    'a mailbox with nothing right',
    mailbox('address: support, defaults: { priority: p9, weight: 1 }, authServer: mx_1').replace('incident', 'problem'),
    [
      'mailboxes[0].address WRONG_FORMAT',
      'mailboxes[0].authServer WRONG_FORMAT',
      'mailboxes[0].defaults.priority UNKNOWN_FIELD',
      'mailboxes[0].defaults.weight UNKNOWN_FIELD',
    ],
  ],
  [
    'a mailbox of an unknown type',
    mailbox('address: a@example.org').replace('incident', 'ticket'),
    ['mailboxes[0].type UNKNOWN_REFERENCE'],
  ],
  [
    'a mailbox that is read over IMAP',
    `${mailbox('address: a@example.org, imap: { host: imap.example.org, user: a, secretRef: mail }')}\nsigningSecrets: [mail]`,
    [],
  ],
  [
    'a mailbox that cannot be read over IMAP',
    mailbox('address: a@example.org, imap: { host: "imap example", user: a, secretRef: mail }'),
    ['mailboxes[0].imap.host WRONG_FORMAT', 'mailboxes[0].imap.secretRef UNKNOWN_REFERENCE'],
  ],
  [
    'a password that signs deliveries',
    `${mailbox('address: a@example.org, imap: { host: imap.example.org, user: a, secretRef: main }')}
signingSecrets: [main]
users: [ { login: anna } ]
webhooks: [ { code: w, endpoint: 'https://1.1.1.1/x', secretRef: main, executionPrincipal: anna, eventTypes: [ObjectCreated], enabled: false } ]`,
    ['mailboxes[0].imap.secretRef NOT_ALLOWED', 'webhooks[0].secretRef NOT_ALLOWED'],
  ],
  ['a mailbox with a plus sign', mailbox('address: a+b@example.org'), ['mailboxes[0].address WRONG_FORMAT']],
  [
    'a mailbox whose address leaves no room for a token',
    mailbox(`address: ${'a'.repeat(32)}@example.org`),
    ['mailboxes[0].address WRONG_FORMAT'],
  ],
  [
    'two mailboxes with one address',
    'mailboxes: [ { code: a, type: incident, address: a@example.org }, { code: b, type: incident, address: A@Example.org } ]',
    ['mailboxes[1].address ALREADY_EXISTS'],
  ],
  [
    'two mailboxes that read one account',
    `mailboxes:
  - { code: a, type: incident, address: a@example.org, imap: { host: imap.example.org, user: a, secretRef: mail } }
  - { code: b, type: incident, address: b@example.org, imap: { host: IMAP.example.org, user: a, secretRef: mail } }
signingSecrets: [mail]`,
    ['mailboxes[1].imap.user ALREADY_EXISTS'],
  ],
  [
    'a mailbox of a type with a field that no mail fills',
    `${mailbox('address: a@example.org').replace('incident', 'order')}
types: [ { code: order, fields: [ { code: title, dataType: string, required: true }, { code: cost, dataType: integer, required: true } ] } ]`,
    ['mailboxes[0].defaults REQUIRED'],
  ],
];

describe('templates and mailboxes in a bundle', () => {
  for (const [name, text, expected] of CASES) {
    it(`checks ${name}`, async () => {
      const problems = await problemsOf([...file(text), { name: 'z-ground.yaml', text: GROUND }]);
      assert.deepEqual(problems.map((problem) => `${problem.path} ${problem.code}`).sort(), [...expected].sort());
    });
  }
});

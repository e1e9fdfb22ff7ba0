/** Problems of a bundle are reported all at once, with file, line, column and path (docs/spec/configuration.md#bundle). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { BundleError } from '../src/configuration/engine.ts';
import { isFault } from '../src/lib/fault.ts';
import { file, problemsOf, SECTIONS } from './support/bundle-fixture.ts';
import { ROOT } from './support/source-files.ts';

async function said(text: string): Promise<string[]> {
  return (await problemsOf(file(text))).map((problem) => `${problem.path} ${problem.code}`);
}

/** The lines of a bundle around a type with one field, so that a test contains only what it is about. */
const typeWith = (field: string): string =>
  `types: [ { code: a, fields: [ { code: title, dataType: string }, ${field} ] } ]`;

const flow = (parts: string): string => `
types: [ { code: a, workflow: w, fields: [ { code: title, dataType: string, required: true }, { code: size, dataType: integer }, { code: who, dataType: user } ] } ]
workflows: [ { code: w, initial: x, states: [ { code: x, category: open }, { code: y, category: done } ], transitions: [ { code: t, from: [x], to: y, ${parts} } ] } ]
users: [ { login: petrova } ]`;

const CASES: readonly [name: string, text: string, problems: string[]][] = [
  ['an unknown section', 'typs: []', ['typs UNKNOWN_SECTION']],
  ['a section that is not a list', 'types: { code: a }', ['types WRONG_TYPE']],
  ['a file that is not a mapping', '- types', [' WRONG_TYPE']],
  ['an unknown key', 'types: [ { code: a, colour: red } ]', ['types[0].colour UNKNOWN_KEY']],
  ['a missing key', 'types: [ { name: A } ]', ['types[0].code REQUIRED']],
  ['a code of the wrong form', 'types: [ { code: A_b } ]', ['types[0].code WRONG_FORMAT']],
  ['a duplicate code', 'types: [ { code: a }, { code: a } ]', ['types[1].code DUPLICATE']],
  [
    'logins that differ by case alone',
    'users: [ { login: Petrova }, { login: petrova } ]',
    ['users[1].login DUPLICATE'],
  ],
  ['a login with what cannot be seen', 'users: [ { login: "pet\\u200brova" } ]', ['users[0].login WRONG_FORMAT']],
  ['a number instead of text', 'users: [ { login: a, employeeId: 17 } ]', ['users[0].employeeId WRONG_TYPE']],
  ['an invalid locale', 'types: [ { code: a, name: { russian: А } } ]', ['types[0].name.russian UNKNOWN_KEY']],
  ['an invalid address', 'users: [ { login: a, email: nobody } ]', ['users[0].email WRONG_FORMAT']],
  [
    'an address of two people',
    'users: [ { login: a, email: x@y.org }, { login: b, email: X@y.org } ]',
    ['users[1].email ALREADY_EXISTS'],
  ],
  ['an unknown unit', 'users: [ { login: a, orgUnit: hq } ]', ['users[0].orgUnit UNKNOWN_REFERENCE']],
  [
    'unknown members',
    'groups: [ { code: g, users: [a], groups: [h] } ]',
    ['groups[0].users[0] UNKNOWN_REFERENCE', 'groups[0].groups[0] UNKNOWN_REFERENCE'],
  ],
  [
    'groups in a ring',
    'groups: [ { code: g, groups: [h] }, { code: h, groups: [g] } ]',
    ['groups[0].groups GROUP_CYCLE', 'groups[1].groups GROUP_CYCLE'],
  ],
  [
    'units in a ring',
    'orgUnits: [ { code: a, parent: b }, { code: b, parent: a } ]',
    ['orgUnits[0].parent CYCLE', 'orgUnits[1].parent CYCLE'],
  ],
  [
    'settings out of range',
    'settings: { searchExactTotal: 10001, timezone: Mars/Base }',
    ['settings.searchExactTotal TOO_LARGE'],
  ],
  ['an invalid time zone', 'settings: { timezone: Mars/Base }', ['settings.timezone UNKNOWN_TIME_ZONE']],
  ['an invalid data type', typeWith('{ code: b, dataType: sting }'), ['types[0].fields[1].dataType NOT_ALLOWED']],
  ['a reserved field code', typeWith('{ code: createdAt, dataType: date }'), ['types[0].fields[1].code RESERVED']],
  [
    'a field code that no body can hold',
    typeWith('{ code: constructor, dataType: date }'),
    ['types[0].fields[1].code INVALID_CONSTRAINT'],
  ],
  ['a duplicate field code', typeWith('{ code: title, dataType: text }'), ['types[0].fields[1].code DUPLICATE']],
  [
    'a constraint of another data type',
    typeWith('{ code: b, dataType: boolean, constraints: { maxLength: 3 } }'),
    ['types[0].fields[1].constraints.maxLength INVALID_CONSTRAINT'],
  ],
  [
    'an enum without options',
    typeWith('{ code: b, dataType: enum }'),
    ['types[0].fields[1].constraints.options INVALID_CONSTRAINT'],
  ],
  [
    'a reference to an unknown type',
    typeWith('{ code: b, dataType: reference, constraints: { types: [c] } }'),
    ['types[0].fields[1].constraints.types[0] UNKNOWN_REFERENCE'],
  ],
  [
    'a default that is an unknown user',
    typeWith('{ code: b, dataType: user, default: petrova }'),
    ['types[0].fields[1].default UNKNOWN_REFERENCE'],
  ],
  [
    'a default of another type',
    typeWith('{ code: b, dataType: integer, default: many }'),
    ['types[0].fields[1].default INVALID_CONSTRAINT'],
  ],
  [
    'a layout with an unknown field and a field placed twice',
    'types: [ { code: a, layout: { sections: [ { fields: [b, c] }, { columns: 2, fields: [b] } ] }, fields: [ { code: b, dataType: text } ] } ]',
    ['types[0].layout.sections[0].fields[1] UNKNOWN_FIELD', 'types[0].layout.sections[1].fields[0] DUPLICATE'],
  ],
  [
    'a layout of three columns',
    'types: [ { code: a, layout: { sections: [ { columns: 3, fields: [] } ] } } ]',
    ['types[0].layout.sections[0].columns NOT_ALLOWED'],
  ],
  ['a title that is not a field', 'types: [ { code: a, title: b } ]', ['types[0].title UNKNOWN_FIELD']],
  [
    'a title that names nothing',
    'types: [ { code: a, title: b, fields: [ { code: b, dataType: json } ] } ]',
    ['types[0].title NOT_ALLOWED'],
  ],
  ['an unknown workflow', 'types: [ { code: a, workflow: w } ]', ['types[0].workflow UNKNOWN_REFERENCE']],
  [
    'a prefix that runs into the number',
    'types: [ { code: a, numbering: { prefix: A1 } } ]',
    ['types[0].numbering.prefix WRONG_FORMAT'],
  ],
  [
    'no initial state',
    'workflows: [ { code: w, initial: z, states: [ { code: x, category: open } ] } ]',
    ['workflows[0].initial UNKNOWN_STATE', 'workflows[0].states[0] UNREACHABLE_STATE'],
  ],
  [
    'a state that nothing leads to',
    'workflows: [ { code: w, initial: x, states: [ { code: x, category: open }, { code: y, category: done } ] } ]',
    ['workflows[0].states[1] UNREACHABLE_STATE'],
  ],
  [
    'a transition to nowhere',
    'workflows: [ { code: w, initial: x, states: [ { code: x, category: open } ], transitions: [ { code: t, from: [x, v], to: z } ] } ]',
    ['workflows[0].transitions[0].from[1] UNKNOWN_STATE', 'workflows[0].transitions[0].to UNKNOWN_STATE'],
  ],
  [
    'an invalid category',
    'workflows: [ { code: w, initial: x, states: [ { code: x, category: closed } ] } ]',
    ['workflows[0].states[0].category NOT_ALLOWED'],
  ],
  [
    'a sound workflow',
    flow(
      'condition: { field: who, operator: equals, value: petrova }, fields: [ { code: size, required: true }, { code: $reason } ], set: { size: 3, who: $me }',
    ),
    [],
  ],
  [
    'a condition on an unknown field',
    flow('condition: { field: weight, operator: equals, value: 1 }'),
    ['workflows[0].transitions[0].condition.field UNKNOWN_FIELD'],
  ],
  [
    'a condition of the wrong type',
    flow('condition: { logic: AND, conditions: [ { field: size, operator: equals, value: big } ] }'),
    ['workflows[0].transitions[0].condition.conditions[0].value INVALID_VALUE'],
  ],
  [
    'a condition on an unknown user',
    flow('condition: { field: who, operator: in, value: [petrova, ivanov] }'),
    ['workflows[0].transitions[0].condition.value[1] UNKNOWN_REFERENCE'],
  ],
  [
    'a condition on an unknown state',
    flow('condition: { field: workflowState, operator: equals, value: z }'),
    ['workflows[0].transitions[0].condition.value UNKNOWN_OPTION'],
  ],
  [
    'a form with an unknown field',
    flow('fields: [ { code: weight } ]'),
    ['workflows[0].transitions[0].fields[0].code UNKNOWN_FIELD'],
  ],
  [
    'a form with an unknown extra',
    flow('fields: [ { code: $cause } ]'),
    ['workflows[0].transitions[0].fields[0].code WRONG_FORMAT'],
  ],
  ['a set of an unknown field', flow('set: { weight: 1 }'), ['workflows[0].transitions[0].set.weight UNKNOWN_FIELD']],
  [
    'a set that empties a required field',
    flow('set: { title: null }'),
    ['workflows[0].transitions[0].set.title REQUIRED'],
  ],
  [
    'a set with a variable of another type',
    flow('set: { who: $now }'),
    ['workflows[0].transitions[0].set.who VARIABLE_NOT_ALLOWED'],
  ],
  [
    'a set with an unknown variable',
    flow('set: { title: $sum }'),
    ['workflows[0].transitions[0].set.title UNKNOWN_VARIABLE'],
  ],
  ['a set with a dollar that is meant', flow('set: { title: $$5 }'), []],
  ['an unknown right', 'roles: [ { code: r, rights: [fly] } ]', ['roles[0].rights[0] NOT_ALLOWED']],
  [
    'an unknown action',
    'roles: [ { code: r, records: [ { type: "*", actions: [delete] } ] } ]',
    ['roles[0].records[0].actions[0] NOT_ALLOWED'],
  ],
  [
    'a grant on no type',
    'roles: [ { code: r, records: [ { type: b, actions: [read] } ] } ]',
    ['roles[0].records[0].type UNKNOWN_REFERENCE'],
  ],
  [
    'a grant on no field',
    `${flow('set: {}')}\nroles: [ { code: r, records: [ { type: a, actions: [read], fields: { read: [title, weight], write: [wait] }, transitions: [u] } ] } ]`,
    [
      'roles[0].records[0].fields.read[1] UNKNOWN_NAME',
      'roles[0].records[0].fields.write[0] UNKNOWN_NAME',
      'roles[0].records[0].transitions[0] UNKNOWN_NAME',
    ],
  ],
  [
    'a grant on all types under a field that one lacks',
    'types: [ { code: a, fields: [ { code: b, dataType: date } ] }, { code: c } ]\nroles: [ { code: r, records: [ { type: "*", where: { field: b, operator: is-empty }, actions: [read] } ] } ]',
    ['roles[0].records[0].where.field UNKNOWN_FIELD'],
  ],
  [
    'an assignment to an unknown user',
    'roles: [ { code: r, assignedTo: { users: [a], groups: [g] } } ]',
    ['roles[0].assignedTo.users[0] UNKNOWN_REFERENCE', 'roles[0].assignedTo.groups[0] UNKNOWN_REFERENCE'],
  ],
  [
    'hours that overlap or end early',
    "calendars: [ { code: c, timezone: UTC, week: { mon: ['09:00-12:00', '11:00-18:00'], tue: ['22:00-06:00'] } } ]",
    ['calendars[0].week.mon[1] OVERLAP', 'calendars[0].week.tue[0] EMPTY_RANGE'],
  ],
  [
    'hours that are none',
    "calendars: [ { code: c, timezone: UTC, week: { mon: ['9-18'], fri: ['09:00-24:00'], day: [] } } ]",
    ['calendars[0].week.mon[0] WRONG_FORMAT', 'calendars[0].week.day UNKNOWN_KEY'],
  ],
  [
    'exceptions of no day, and of one day twice',
    "calendars: [ { code: c, timezone: UTC, week: {}, exceptions: [ { date: '2027-02-30', hours: [] }, { date: '2027-01-01', hours: [] }, { date: '2027-01-01', hours: [] } ] } ]",
    ['calendars[0].exceptions[0].date WRONG_FORMAT', 'calendars[0].exceptions[2].date DUPLICATE'],
  ],
];

describe('an invalid bundle', () => {
  it('uses the sections of the specification', () => {
    assert.deepEqual(
      SECTIONS.map((section) => section.key).sort(),
      'calendars catalogs dashboards groups importDefinitions integrations knowledgeBases macros mailboxes orgUnits relationDefinitions roles rules services settings signingSecrets slaPolicies synonyms templates types users webhooks workflows'.split(
        ' ',
      ),
    );
  });

  for (const [name, text, expected] of CASES) {
    it(`reports ${name}`, async () => assert.deepEqual((await said(text)).sort(), [...expected].sort()));
  }

  it('reports file, line and column of all problems at once, in the order of the files', async () => {
    const problems = await problemsOf([
      {
        name: 'b.yaml',
        text: 'workflows:\n  - code: w\n    initial: x\n    states: [ { code: x, category: open } ]\n    transitions:\n      - { code: t, from: [x], to: nowhere }\n',
      },
      {
        name: 'a.yaml',
        text: 'types:\n  - code: a\n    workflow: v\n    fields:\n      - code: title\n        dataType: sting\n  - code: b\n    colour: red\n  - code: c\n    workflow: v\n',
      },
    ]);
    assert.deepEqual(
      problems.map(({ file: name, line, column, path: at }) => `${name}:${line}:${column} ${at}`),
      [
        'a.yaml:6:19 types[0].fields[0].dataType',
        'a.yaml:8:5 types[1].colour',
        'a.yaml:10:15 types[2].workflow',
        'b.yaml:6:35 workflows[0].transitions[0].to',
      ],
    );
    for (const { message } of problems) assert.match(message, /^[A-Z].*[.?]$/s);
  });

  it('proposes names that resemble a wrong one', async () => {
    const world = `
groups: [ { code: service-desk, users: [petrova, petrva] } ]
roles: [ { code: r, records: [ { type: a, actions: [read], fields: { read: [titel] }, transitions: [tt], where: { field: workflowState, operator: equals, value: xx } } ] } ]
slaPolicies: [ { code: soon, type: aa, calendar: work, targets: [ { duration: PT1H } ], start: { field: titlle, operator: is-empty }, stop: { field: title, operator: is-empty } } ]
catalogs: [ { code: c, categories: [ { code: repair } ], items: [ { code: i, category: repairs, type: a, set: { szie: 1 } } ] } ]
calendars: [ { code: works, timezone: UTC, week: {} } ]`;
    const text = flow('set: { sise: 1 }').replace('initial: x', 'initial: xy');
    const proposed = async (bundle: string): Promise<string[]> =>
      (await problemsOf(file(bundle))).flatMap(({ message, path: at }) => {
        const meant = /Did you mean (.*)\?$/.exec(message)?.[1];
        return meant === undefined ? [] : [`${at} ${meant}`];
      });
    assert.deepEqual(await proposed('types: [ { code: a, titel: b } ]\nrole: []'), [
      'types[0].titel title',
      'role roles',
    ]);
    assert.deepEqual((await proposed(`${text}${world}`)).sort(), [
      'catalogs[0].items[0].category repair',
      'catalogs[0].items[0].set.szie size',
      'groups[0].users[1] petrova',
      'roles[0].records[0].fields.read[0] title',
      'roles[0].records[0].transitions[0] t',
      'roles[0].records[0].where.value x',
      'slaPolicies[0].calendar works',
      'slaPolicies[0].type a',
      'workflows[0].initial x or y',
      'workflows[0].transitions[0].set.sise size',
    ]);
  });

  it('ignores an empty file beside others, and refuses files that have no section at all', async () => {
    assert.deepEqual(await problemsOf([...file('types: []'), ...file('# later', 'empty.yaml')]), []);
    for (const text of ['', '# nothing yet', '{}', '---\n']) {
      await assert.rejects(problemsOf(file(text)), (error: unknown) => {
        assert.ok(isFault(error, 'INVALID_REQUEST') && Array.isArray(error.details));
        assert.equal(error.reason, 'NO_SECTIONS');
        assert.deepEqual(
          error.details.map(({ path: at }) => at),
          ['/files/0/text'],
        );
        assert.match(error.message, /No file has a section\. Add one, such as "types:"/);
        return true;
      });
    }
  });

  it('returns one fault whose details list each position', async () => {
    const error = new BundleError(await problemsOf(file('types:\n  - code: A\n')));
    assert.equal(error.code, 'INVALID_REQUEST');
    assert.ok(Array.isArray(error.details));
    assert.equal(error.details[0]?.path, 'bundle.yaml:2:11 types[0].code');
    assert.match(error.message, /Nothing was changed/);
  });

  it('reports one syntax error per file, at its position', async () => {
    const folder = path.join(ROOT, 'config/itsm');
    const text = readFileSync(path.join(folder, '20-dictionaries.yaml'), 'utf8');
    const line = 13;
    const ways: Readonly<Record<string, (line: string) => string>> = {
      'a bracket too many': (one) => `${one} ]`,
      'a bracket that is not closed': (one) => one.replace(/: .*$/, ': [a, b'),
      'a quote that is not closed': (one) => one.replace(/: .*$/, ": 'abc"),
      'a double quote that is not closed': (one) => one.replace(/: .*$/, ': "abc'),
      'a tab': (one) => `\t${one}`,
      'one space more': (one) => ` ${one}`,
      'a second colon': (one) => `${one}: x: y`,
    };
    for (const [name, way] of Object.entries(ways)) {
      const lines = text.split('\n');
      lines[line - 1] = way(lines[line - 1] ?? '');
      const others = ['10-settings.yaml', '30-incident.yaml', '50-roles.yaml'].map((one) => ({
        name: one,
        text: readFileSync(path.join(folder, one), 'utf8'),
      }));
      const problems = await problemsOf([{ name: '20-dictionaries.yaml', text: lines.join('\n') }, ...others]);
      assert.deepEqual(
        problems.map(({ file: where, path: at }) => `${where} ${at}`),
        ['20-dictionaries.yaml '],
        name,
      );
      // A bracket that is not closed is an error at the line after it.
      assert.ok(Math.abs((problems[0]?.line ?? 0) - line) <= 1, `${name}: line ${problems[0]?.line}`);
    }
  });

  it('does not repeat errors for references to an item that could not be read', async () => {
    const text =
      'types: [ { code: a, colour: red }, { code: b, fields: [ { code: r, dataType: reference, constraints: { types: [a] } } ] } ]\nroles: [ { code: r, records: [ { type: a, where: { field: x, operator: is-empty }, actions: [read], fields: { read: [x] } } ] } ]';
    assert.deepEqual(await said(text), ['types[0].colour UNKNOWN_KEY']);
  });

  it('does not include the starter bundle', async () => {
    const folder = path.join(ROOT, 'config/itsm');
    const files = readdirSync(folder).map((name) => ({ name, text: readFileSync(path.join(folder, name), 'utf8') }));
    assert.deepEqual(await problemsOf(files), []);
  });
});

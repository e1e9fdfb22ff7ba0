import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import MarkdownIt from 'markdown-it';
import { withChangedElements, withEventFields } from '../../contract/rule-fields.ts';
import {
  type Condition,
  fieldsOf,
  parseCondition,
  type RecordFacts,
  resolverOf,
  type Variables,
} from '../../lib/filter.ts';
import { mentionedLogins } from '../../lib/mentions.ts';
import { asMarkdown, fillTemplate } from '../../lib/template.ts';
import type { RecordRight } from '../../platform/unit-of-work/context.ts';
import { isEventField } from '../../contract/rule-fields.ts';
import { requiredValue, type Rule } from './registry.ts';
import { canMatch, type EventFacts, fires, type Occasion, seenAs, withEvent } from './rules.ts';

const FIELDS = ['priority', 'team', 'secret'];
const USERS = ['requester'];
const resolve = withEventFields(
  resolverOf([
    ...FIELDS.map((code) => ({ code, kind: 'value' as const, dataType: 'string' as const, multiple: false })),
    ...USERS.map((code) => ({ code, kind: 'value' as const, dataType: 'user' as const, multiple: false })),
  ]),
  [...FIELDS, ...USERS],
);
const VARIABLES: Variables = {
  me: 'r',
  groups: [],
  orgUnit: null,
  orgUnits: [],
  now: '2026-01-01T00:00:00.000Z',
  today: '2026-01-01',
};
const ALL: RecordRight = { can: () => true, canRead: () => true, canWrite: () => true, canTransition: () => true };

function ruleWith(when: unknown, once: Rule['once'] = 'becomes-true'): Rule {
  const condition = parseCondition(withChangedElements(when as Condition), { resolve, variables: 'allowed' });
  const rest = { id: 'r', code: 'r', name: 'r', enabled: true, on: [], runAsId: 'u', do: [], onError: 'note' as const };
  const namesRecord = fieldsOf(condition).some((field) => !isEventField(field));
  return { ...rest, once, when: condition, requires: requiredValue(condition), dependsOnActor: false, namesRecord };
}

function record(values: Record<string, unknown>): RecordFacts {
  const system = {
    id: 'o',
    number: null,
    title: 'T',
    typeId: 't',
    typeCode: 'case',
    state: 'ACTIVE' as const,
    workflowState: 'new',
    workflowCategory: 'open',
    revision: 1,
    createdAt: VARIABLES.now,
    createdBy: null,
    updatedAt: VARIABLES.now,
    updatedBy: null,
  };
  return { values, folded: values, system };
}

const EVENT: EventFacts = {
  type: 'ObjectUpdated',
  via: 'api',
  actor: 'u',
  commentVisibility: null,
  seenAs: null,
  changed: ['priority'],
};

function occasion(
  after: Record<string, unknown>,
  before: Record<string, unknown> | null | undefined,
  event = EVENT,
): Occasion {
  return {
    event,
    after: withEvent(record(after), event),
    before: before === null || before === undefined ? before : () => record(before),
    titleField: 'title',
  };
}

const P1 = { field: 'priority', operator: 'equals', value: 'p1' };
const CHANGED = { field: 'changed', operator: 'contains', value: 'priority' };
const both = (...conditions: unknown[]) => ({ logic: 'AND', conditions });

describe('whether a rule fires', () => {
  const cases: [string, unknown, Occasion, boolean][] = [
    ['a condition that becomes true', P1, occasion({ priority: 'p1' }, { priority: 'p2' }), true],
    ['a condition that was true already', P1, occasion({ priority: 'p1', team: 'a' }, { priority: 'p1' }), false],
    ['a condition that is false', P1, occasion({ priority: 'p2' }, { priority: 'p1' }), false],
    ['a created record', P1, occasion({ priority: 'p1' }, null), true],
    ['an event that does not change the record', P1, occasion({ priority: 'p1' }, undefined), true],
    ['a changed field alone', CHANGED, occasion({ priority: 'p1' }, { priority: 'p1' }), true],
    [
      'a changed field and a value that it had',
      both(CHANGED, P1),
      occasion({ priority: 'p1' }, { priority: 'p1' }),
      true,
    ],
    ['another changed field', { ...CHANGED, value: 'team' }, occasion({ priority: 'p1' }, {}), false],
    ['the origin of the event', { field: 'event.via', operator: 'equals', value: 'api' }, occasion({}, {}), true],
    [
      'the kind of the event',
      { field: 'event.type', operator: 'equals', value: 'CommentAdded' },
      occasion({}, {}),
      false,
    ],
    [
      'a field that holds the actor',
      { field: 'event.actorIn', operator: 'contains', value: 'requester' },
      occasion({ requester: 'u' }, {}),
      true,
    ],
    [
      'a field that holds another user',
      { field: 'event.actorIn', operator: 'contains', value: 'requester' },
      occasion({ requester: 'other', team: 'u' }, {}),
      false,
    ],
    [
      'the visibility of the comment',
      { field: 'comment.visibility', operator: 'equals', value: 'public' },
      occasion({}, undefined, { ...EVENT, type: 'CommentAdded', commentVisibility: 'public', changed: [] }),
      true,
    ],
  ];
  for (const [name, when, on, expected] of cases) {
    it(`${expected ? 'fires' : 'does not fire'} on ${name}`, () => {
      const rule = ruleWith(when);
      assert.equal(fires(rule, on, VARIABLES, ALL), expected);
      if (expected) assert.equal(canMatch(rule, on, VARIABLES), true);
    });
  }

  it('rejects a record without a required value before the condition is evaluated', () => {
    const requires = (when: unknown): unknown => ruleWith(when).requires;
    assert.deepEqual(requires(both(CHANGED, P1)), { field: 'priority', values: new Set(['p1']) });
    assert.deepEqual(requires({ ...P1, operator: 'in', value: ['p1', 'p2'] }), {
      field: 'priority',
      values: new Set(['p1', 'p2']),
    });
    for (const other of [{ ...P1, operator: 'not-equals' }, { logic: 'OR', conditions: [P1, CHANGED] }, CHANGED]) {
      assert.equal(requires(other), undefined);
    }
    assert.equal(canMatch(ruleWith(P1), occasion({ priority: 'p2' }, {}), VARIABLES), false);
  });

  it('fires every time if it is told so', () => {
    assert.equal(
      fires(ruleWith(P1, 'every-time'), occasion({ priority: 'p1' }, { priority: 'p1' }), VARIABLES, ALL),
      true,
    );
  });

  it('does not fire at a time that a field gives which the user of the rule may not read', () => {
    const timed = (since: string): Rule => ({ ...ruleWith(P1), when: null, after: { ms: 0, calendarId: null, since } });
    const hides: RecordRight = { ...ALL, canRead: (code) => code !== 'secret' };
    const on = occasion({ secret: '2026-01-01T00:00:00.000Z' }, undefined);
    assert.equal(fires(timed('secret'), on, VARIABLES, ALL), true);
    assert.equal(fires(timed('secret'), on, VARIABLES, hides), false);
    assert.equal(fires(timed('workflowState'), on, VARIABLES, hides), true);
  });

  it('sees only what the user of the rule may read', () => {
    const secret = ruleWith({ field: 'secret', operator: 'not-equals', value: 'x' });
    const hides: RecordRight = { ...ALL, canRead: (code) => code !== 'secret' };
    const on = occasion({ secret: 'y' }, { secret: 'x' }, { ...EVENT, changed: ['secret'] });
    assert.equal(fires(secret, on, VARIABLES, ALL), true);
    assert.equal(fires(secret, on, VARIABLES, hides), false);
    const changed = ruleWith({ field: 'changed', operator: 'contains', value: 'secret' });
    assert.equal(fires(changed, on, VARIABLES, ALL), true);
    assert.equal(fires(changed, on, VARIABLES, hides), false);
    const own = ruleWith({ field: 'event.actorIn', operator: 'contains', value: 'requester' });
    const unseen: RecordRight = { ...ALL, canRead: (code) => code !== 'requester' };
    assert.equal(fires(own, occasion({ requester: 'u' }, {}), VARIABLES, unseen), false);
    assert.equal(fires(ruleWith(P1), occasion({ priority: 'p1' }, {}), VARIABLES, { ...ALL, can: () => false }), false);
    const title = ruleWith({ field: 'title', operator: 'equals', value: 'T' }, 'every-time');
    for (const [titleField, expected] of [
      ['secret', false],
      ['team', true],
      [null, false],
    ] as const) {
      assert.equal(fires(title, { ...occasion({}, {}), titleField }, VARIABLES, hides), expected, titleField ?? 'none');
    }
  });

  it('does not fire on comments, and files of comments, that the user of the rule may not see', () => {
    const rule = ruleWith(P1, 'every-time');
    const reader: RecordRight = { ...ALL, can: (action) => action === 'read' };
    const on = (visibility: EventFacts['seenAs'], commentId?: string): Occasion =>
      occasion({ priority: 'p1' }, {}, { ...EVENT, seenAs: seenAs(visibility, commentId) });
    for (const [about, expected] of [
      [on(null), true],
      [on('public'), true],
      [on('public', 'c'), true],
      [on('internal', 'c'), false],
      [on(null, 'c'), false],
    ] as const) {
      assert.equal(fires(rule, about, VARIABLES, reader), expected, about.event.seenAs ?? 'none');
      assert.equal(fires(rule, about, VARIABLES, ALL), true);
    }
  });
});

describe('a value in a comment of a rule', () => {
  const reader = MarkdownIt({ html: false, linkify: false, breaks: true });
  const VALUES = [
    '[Sign in](https://evil.example)',
    '[a]: https://evil.example\n\n[a]',
    '\\[a](https://evil.example)',
    '![x](https://evil.example/x.png)',
    '<https://evil.example> <b>bold</b> &lt; &amp;',
    '**bold** _slanted_ ~~gone~~ `code`',
    'host_name C:\\Users\\new \\\\server\\share \\',
    '@anna, (@boris) and anna@example.org @',
  ];

  for (const value of VALUES) {
    it(`is text: ${JSON.stringify(value)}`, () => {
      for (const text of [
        'Seen: {{ v }} [desk](https://desk.example)',
        '[{{ v }}](https://desk.example)',
        '{{ v }}anna',
      ]) {
        const filled = fillTemplate(text, () => asMarkdown(value));
        const html = reader.render(filled);
        assert.doesNotMatch(html, /<(?:img|em|strong|s|code|b)\b|href="https:\/\/evil/, html);
        assert.deepEqual(mentionedLogins(filled), []);
        const shown = html
          .replace(/<[^>]+>/g, '')
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&amp;', '&');
        if (!value.includes('\n')) assert.ok(shown.replaceAll('\u2060', '').includes(value), `${shown} shows ${value}`);
      }
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RuleDefinition } from './registry.ts';
import { firingGraph, loopThrough, type ReadingRole, sentFields, unmeetableField, widenedFields } from './checker.ts';

function rule(parts: Partial<RuleDefinition>): RuleDefinition {
  return {
    code: 'r',
    name: 'r',
    enabled: true,
    on: ['ObjectUpdated'],
    types: ['incident'],
    runAs: 'robot',
    once: 'becomes-true',
    do: [{ set: { priority: 'p1' } }],
    onError: 'note',
    ...parts,
  };
}

function rules(all: Record<string, Partial<RuleDefinition>>): Map<string, RuleDefinition> {
  return new Map(Object.entries(all).map(([code, parts]) => [code, rule({ code, ...parts })]));
}

const leaf = (field: string, value: unknown, operator = 'equals') => ({ field, operator, value }) as never;
const both = (...conditions: never[]) => ({ logic: 'AND', conditions }) as never;
const either = (...conditions: never[]) => ({ logic: 'OR', conditions }) as never;

describe('the checker of rules', () => {
  const cases: [string, Partial<RuleDefinition>, string | undefined][] = [
    ['no condition', {}, undefined],
    ['a state', { when: leaf('workflowState', 'new') }, undefined],
    [
      'two states at once',
      { when: both(leaf('workflowState', 'new'), leaf('workflowState', 'done')) },
      'workflowState',
    ],
    [
      'lists of states with one in common',
      { when: both(leaf('workflowState', ['a', 'b'], 'in'), leaf('workflowState', ['b', 'c'], 'in')) },
      undefined,
    ],
    ['two values of a field, which may be multiple', { when: both(leaf('tags', 'a'), leaf('tags', 'b')) }, undefined],
    ['one of two states', { when: either(leaf('workflowState', 'new'), leaf('workflowState', 'done')) }, undefined],
    ['an event that it does not react to', { when: leaf('event.type', 'ObjectCreated') }, 'event.type'],
    [
      'the visibility of a comment without comments',
      { when: leaf('comment.visibility', 'public') },
      'comment.visibility',
    ],
    ['the visibility of a comment', { on: ['CommentAdded'], when: leaf('comment.visibility', 'public') }, undefined],
    [
      'a changed field without changes',
      { on: ['CommentAdded'], when: leaf('changed', 'priority', 'contains') },
      'changed',
    ],
    ['another record type', { when: leaf('typeCode', 'problem') }, 'typeCode'],
  ];
  for (const [name, parts, expected] of cases) {
    it(`finds ${expected === undefined ? 'nothing' : 'the field'} for ${name}`, () =>
      assert.equal(unmeetableField(rule(parts)), expected));
  }

  it('follows actions to the rules that they can fire', () => {
    const all = rules({
      route: { when: leaf('category', 'network'), do: [{ set: { team: 'network' } }] },
      greet: { when: leaf('team', 'network'), do: [{ comment: { visibility: 'internal', body: 'x' } }] },
      answer: { on: ['CommentAdded'], do: [{ transition: 'take' }] },
      watch: { on: ['ObjectTransitioned'], when: leaf('workflowState', 'open'), do: [{ create: { type: 'problem' } }] },
      other: { on: ['ObjectCreated'], types: ['problem'], do: [{ set: { team: 'x' } }] },
    });
    assert.deepEqual(Object.fromEntries(firingGraph(all)), {
      route: ['greet'],
      greet: ['answer'],
      answer: ['watch'],
      watch: ['other'],
      other: [],
    });
    for (const code of all.keys()) assert.equal(loopThrough(code, all), undefined);
  });

  it('leaves out rules whose conditions the actions cannot meet', () => {
    const comment = { visibility: 'internal' as const, body: 'x' };
    const firedBy = (one: Partial<RuleDefinition>, other: Partial<RuleDefinition>) =>
      firingGraph(rules({ one, other })).get('one')?.includes('other');
    const closed = leaf('workflowState', 'closed');
    const onComment = { on: ['CommentAdded' as const] };
    const shown = leaf('comment.visibility', 'public');
    assert.equal(firedBy({ do: [{ comment }] }, { ...onComment, when: shown }), false);
    assert.equal(
      firedBy({ do: [{ comment: { ...comment, visibility: 'public' } }] }, { ...onComment, when: shown }),
      true,
    );
    assert.equal(firedBy({ do: [{ comment }] }, { ...onComment, when: either(shown, closed) }), true);
    const resolved = { ...onComment, when: leaf('workflowState', ['resolved', 'new'], 'in') };
    assert.equal(firedBy({ when: closed, do: [{ comment }] }, resolved), false);
    assert.equal(firedBy({ when: closed, do: [{ transition: 'reopen' }, { comment }] }, resolved), true);
    assert.equal(firedBy({ when: either(closed, shown), do: [{ comment }] }, resolved), true);
    const urgent = { when: leaf('priority', 'p1'), do: [{ set: { team: 'x' } }] };
    for (const [value, fires] of [
      ['p2', false],
      ['p1', true],
      ['$me', true],
      [['p2'], true],
    ] as const) {
      assert.equal(firedBy({ do: [{ set: { priority: value } }] }, urgent), fires, String(value));
    }
  });

  it('names the shortest loop, and none for a rule that only fires itself on the same record', () => {
    const self = rules({ one: { when: leaf('priority', 'p2') } });
    assert.equal(loopThrough('one', self), undefined);
    const pair = rules({
      up: { when: leaf('priority', 'p1'), do: [{ set: { team: 'a' } }] },
      down: { when: leaf('team', 'a'), do: [{ set: { priority: 'p1' } }] },
    });
    assert.deepEqual(loopThrough('up', pair), ['up', 'down', 'up']);
    assert.deepEqual(loopThrough('down', pair), ['down', 'up', 'down']);
    const copies = rules({ copy: { on: ['ObjectCreated'], do: [{ create: { type: 'incident' } }] } });
    assert.deepEqual(loopThrough('copy', copies), ['copy', 'copy']);
  });

  it('names the fields that a text shows to roles that may not read them', () => {
    const role = (code: string, actions: ReadingRole['records'][0]['actions'], read: string[] | '*'): ReadingRole => ({
      code,
      records: [{ type: '*', actions, fields: { read } }],
    });
    const roles = [
      role('agent', ['read', 'Private Comment'], '*'),
      role('guest', ['read', 'history'], ['title']),
      role('helper', ['read', 'Private Comment'], ['title']),
      role('none', [], ['title']),
    ];
    const seen = (action: Partial<RuleDefinition['do'][0]>) =>
      widenedFields(rule({ do: [action] }), roles, (_type, name) => (name === 'number' ? undefined : name)).map(
        ({ field, role: code }) => `${code} ${field}`,
      );
    const body = { en: '{{ title }} {{ number }}', ru: '{{ salary }}' };
    assert.deepEqual(seen({ comment: { visibility: 'public', body } }), ['guest salary', 'helper salary']);
    assert.deepEqual(seen({ comment: { visibility: 'internal', body } }), ['helper salary']);
    const values = { title: '{{ salary }}', salary: '{{ salary }}', other: 5 };
    assert.deepEqual(seen({ create: { type: 'problem', values } }), ['guest salary', 'helper salary']);
    assert.deepEqual(seen({ set: { title: 'x' } }), []);
    assert.deepEqual(seen({ transition: 'take', reason: body }), ['guest salary'], 'the reason is in the history');
  });

  it('names the fields that messages send to other systems', () => {
    const post = (body: Record<string, unknown>) => ({ post: { connection: 'chat', body } });
    const sent = post({ text: '{{ title }}', '{{ key }}': 1, parts: [{ text: 'of {{ title }}, {{ cost }}' }, null] });
    assert.deepEqual(sentFields(rule({ do: [sent, post({ text: 'Hello' }), { transition: 'take' }] })), [
      { webhook: 'chat', fields: 'title, cost' },
    ]);
  });
});

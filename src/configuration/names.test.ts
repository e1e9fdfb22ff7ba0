/** Renames in conditions about events, and in placeholders of values for records of another type. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Codes } from './codes.ts';
import { mapNames } from './names.ts';

/** `incident.prio` is now `priority`, `problem.title` is now `name`, the user `anna` is now `ann`. */
const codes = new Codes();
const fields = (...names: string[]): object => ({ fields: names.map((code) => ({ code, dataType: 'string' })) });
codes.add('types', 'incident', [fields('prio', 'title')]);
codes.add('types', 'problem', [fields('title', 'cause')]);
codes.rename('types/incident/fields', 'prio', 'priority');
codes.rename('types/problem/fields', 'title', 'name');
codes.rename('users', 'anna', 'ann');

const SCHEMA = {
  type: 'object',
  typesAt: 'types',
  properties: {
    types: { type: 'array', items: { names: { kind: 'item', section: 'types' } } },
    when: { names: { kind: 'condition' } },
    create: {
      type: 'object',
      typesAt: 'type',
      properties: { type: { names: { kind: 'item', section: 'types' } }, values: { names: { kind: 'filledSet' } } },
    },
  },
};

const mapped = (value: object): unknown => mapNames({ key: 'rules', schema: SCHEMA }, 'r', value, codes);

describe('renames in rules', () => {
  it('follow the fields in conditions on what an event changed, and its user', () => {
    const leaf = (field: string, operator: string, value: unknown): object => ({ field, operator, value });
    const when = {
      logic: 'AND',
      conditions: [
        leaf('changed', 'contains', 'prio'),
        leaf('changed', 'in', ['prio', 'workflowState']),
        leaf('event.actor', 'equals', 'anna'),
        leaf('event.via', 'equals', 'anna'),
      ],
    };
    assert.deepEqual(mapped({ types: ['incident'], when }), {
      types: ['incident'],
      when: {
        logic: 'AND',
        conditions: [
          leaf('changed', 'contains', 'priority'),
          leaf('changed', 'in', ['priority', 'workflowState']),
          leaf('event.actor', 'equals', 'ann'),
          leaf('event.via', 'equals', 'anna'),
        ],
      },
    });
  });

  it('follow the fields of both types in the values of a created record', () => {
    const create = { type: 'problem', values: { title: 'Cause of {{ title }}: {{ prio }}', cause: '{{ number }}' } };
    assert.deepEqual(mapped({ types: ['incident'], create }), {
      types: ['incident'],
      create: { type: 'problem', values: { name: 'Cause of {{ title }}: {{ priority }}', cause: '{{ number }}' } },
    });
  });
});

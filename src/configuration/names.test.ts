/** Renames in conditions about events, and in placeholders of values for records of another type. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CurrentCodes } from './naming.ts';
import { mapNames } from './names.ts';

/** `incident.prio` is now `priority`, `problem.title` is now `name`, the user `anna` is now `ann`. */
const FIELDS: Record<string, Record<string, string>> = {
  incident: { prio: 'priority', title: 'title' },
  problem: { title: 'name', cause: 'cause' },
};
const codes: CurrentCodes = {
  item: (section, code) => (section === 'users' && code === 'anna' ? 'ann' : code),
  typeCode: (type) => type,
  types: () => Object.keys(FIELDS),
  typesUsing: () => [],
  workflowsOf: () => [],
  field: (type, code) => {
    const current = FIELDS[type]?.[code];
    return current === undefined ? undefined : { code: current, dataType: 'string', option: (one) => one };
  },
  state: () => undefined,
  transition: () => undefined,
  node: (_section, _item, _part, code) => code,
  origin: () => undefined,
};

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

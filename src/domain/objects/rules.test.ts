import assert from 'node:assert/strict';
import { test } from 'node:test';
import { field } from '../../../test/support/field-values.ts';
import { Fault } from '../../lib/fault.ts';
import { inTurns } from '../../lib/yielding.ts';
import type { FieldDefinition, TypeVersion } from '../metadata/index.ts';
import { derive, planValues } from './rules.ts';

const ALL = { canRead: () => true, canWrite: () => true };

function versionOf(number: number, fields: readonly FieldDefinition[]): TypeVersion {
  const definition: TypeVersion['definition'] = {
    code: 'ticket',
    name: 'Ticket',
    category: 'object',
    fields: [...fields],
  };
  return {
    typeId: 'ticket',
    version: number,
    definition,
    fields: new Map(fields.map((one) => [one.code, one])),
    roles: new Map(),
    titleField: 'title',
    workflow: null,
  };
}

const title = field('string', {}, { code: 'title', required: true });
const note = field('text', {}, { code: 'note' });
const first = versionOf(1, [title, note]);
const second = versionOf(2, [title, { ...note, required: true }, field('integer', {}, { code: 'effort', default: 7 })]);

/** The paths that the refusal names; none if the values are accepted. */
async function refused(version: TypeVersion, given: Record<string, unknown>, member = 'values'): Promise<string[]> {
  try {
    await inTurns(planValues(version, given, member, ALL));
    return [];
  } catch (error) {
    assert.ok(error instanceof Fault);
    return (error.details as { path: string }[]).map(({ path }) => path);
  }
}

test('each version of a type has its own defaults and required fields', async () => {
  for (let round = 0; round < 2; round++) {
    assert.deepEqual((await inTurns(planValues(first, { title: 'Ёлка' }, 'values', ALL))).values, { title: 'Ёлка' });
    assert.deepEqual((await inTurns(planValues(second, { title: 'a', note: 'b' }, 'values', ALL))).values, {
      title: 'a',
      note: 'b',
      effort: 7,
    });
    assert.deepEqual(
      (await inTurns(planValues(second, { title: 'a', note: 'b', effort: null }, 'values', ALL))).values,
      {
        title: 'a',
        note: 'b',
      },
    );
    assert.deepEqual(await refused(second, { title: 'a' }), ['/values/note']);
  }
});

test('a field that two versions share reports the path in the given member', async () => {
  for (const [version, member] of [
    [first, 'values'],
    [second, 'changes'],
    [first, 'changes'],
    [second, 'values'],
  ] as const) {
    assert.deepEqual(await refused(version, { title: 1, note: 'b' }, member), [`/${member}/title`]);
  }
});

test('a form can require more fields than the version', async () => {
  const configured = { form: new Map([['note', true]]), writes: () => ({}) };
  await assert.rejects(inTurns(planValues(first, { title: 'a' }, 'values', ALL, configured)), Fault);
});

test('folded copies are those of the text fields and the title', () => {
  assert.deepEqual(derive(second, { title: 'Ёлка', note: 'B', effort: 7 }), {
    folded: { title: 'елка', note: 'b', $title: 'елка' },
    title: 'Ёлка',
  });
  assert.deepEqual(derive(first, {}), { folded: {}, title: null });
});

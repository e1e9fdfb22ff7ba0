/** Which names are proposed for a misspelt one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nearNames } from './near-names.ts';

describe('near names', () => {
  it('are proposed for left out, added, replaced and swapped letters and other spellings', () => {
    const known = ['dataType', 'required', 'maxLength', 'minLength', 'title'];
    for (const [wrong, meant] of [
      ['datatype', ['dataType']],
      ['data_type', ['dataType']],
      ['requird', ['required']],
      ['requiired', ['required']],
      ['tilte', ['title']],
      ['mxLength', ['maxLength']],
      ['mLength', ['maxLength', 'minLength']],
    ] as const) {
      assert.deepEqual(nearNames(wrong, known), meant, wrong);
    }
  });

  it('are not proposed where nothing resembles the name', () => {
    assert.deepEqual(nearNames('colour', ['code', 'name', 'type']), []);
    assert.deepEqual(nearNames('x', ['yy', 'zzz']), []);
    assert.deepEqual(nearNames('', ['a']), []);
    assert.deepEqual(nearNames('x'.repeat(100_000), ['x'.repeat(99_999)]), []);
  });

  it('are the nearest ones, at most three', () => {
    assert.deepEqual(nearNames('incidnt', ['incident', 'incidental']), ['incident']);
    assert.deepEqual(nearNames('team-9', ['team-1', 'team-2', 'team-3', 'team-4']), ['team-1', 'team-2', 'team-3']);
  });
});

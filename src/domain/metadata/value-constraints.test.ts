import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DATA_TYPES, type DataType } from '../../lib/data-types/index.ts';
import type { FieldConstraints, FieldDefinition } from './registry.ts';
import { field, OPTIONS } from '../../../test/support/field-values.ts';
import { checkConstraints } from './value-constraints.ts';
import { checkValue } from './values.ts';
import { processorMs } from '../../../test/support/processor-time.ts';

type Case = [dataType: DataType, constraints: object, more?: Partial<FieldDefinition>];

function paths([dataType, constraints, more]: Case): string[] {
  return checkConstraints(field(dataType, constraints as FieldConstraints, more)).map(({ path }) => path);
}

const options = (...codes: unknown[]): object => ({ options: codes.map((code) => ({ code, name: 'N' })) });

describe('checkConstraints', () => {
  const sound: Case[] = [
    ['string', {}],
    ['string', { minLength: 1, maxLength: 200, pattern: '[A-Z]{3}' }, { default: 'ABC' }],
    ['string', { minLength: 1000 }],
    ['text', { maxLength: 1, minLength: 0 }],
    ['text', { pattern: '[^\\n]+' }],
    ['string', { maxItems: 100, pattern: '[a-z]+' }, { multiple: true, default: ['a', 'b'] }],
    ['integer', { min: -5, max: -5 }, { default: -5 }],
    ['decimal', { min: '0.1', max: 5, scale: 2 }, { default: '0.10' }],
    ['date', { min: '2026-01-01', max: '2026-01-02' }, { default: '2026-01-02' }],
    ['datetime', { min: '2026-01-01T01:00:00+03:00', max: '2025-12-31T22:00:00Z' }],
    ['time', { min: '09:00', max: '09:00:00' }],
    ['enum', OPTIONS, { default: 'p1' }],
    ['enum', OPTIONS, { multiple: true, default: ['p2', 'p1'] }],
    ['reference', { types: ['asset', 'ci-2'] }, { default: 'INC0000001' }],
    ['user', {}, { default: 'petrova' }],
    ['group', { maxItems: 2 }, { multiple: true, default: ['a', 'b'] }],
    ['boolean', {}, { default: false }],
    ['json', {}, { default: { a: [] } }],
    ['rich-text', {}, { default: '<p>Hi</p>' }],
  ];
  it('accepts valid fields', () => {
    for (const one of sound) assert.deepEqual(paths(one), [], JSON.stringify(one));
  });

  const wrong: [path: string, ...Case][] = [
    ['/constraints/min', 'string', { min: 1 }],
    ['/constraints/maxLength', 'integer', { maxLength: 5 }],
    ['/constraints/pattern', 'enum', { ...OPTIONS, pattern: 'a' }],
    ['/constraints/options', 'string', OPTIONS],
    ['/constraints/types', 'user', { types: ['asset'] }],
    ['/constraints/scale', 'integer', { scale: 2 }],
    ['/constraints/min', 'duration', { min: 'PT1H' }],
    ['/constraints/maxItems', 'string', { maxItems: 5 }],
    ['/constraints/maxlength', 'string', { maxlength: 5 }],
    ['/constraints/__proto__', 'string', JSON.parse('{"__proto__":1}')],
    ['/code', 'string', {}, { code: 'constructor' }],
    ['/multiple', 'json', {}, { multiple: true }],
    ['/multiple', 'rich-text', {}, { multiple: true }],
    ['/constraints/maxLength', 'string', { maxLength: 0 }],
    ['/constraints/maxLength', 'string', { maxLength: '5' }],
    ['/constraints/maxLength', 'string', { maxLength: null }],
    ['/constraints/maxLength', 'text', { maxLength: 100_001 }],
    ['/constraints/minLength', 'string', { minLength: -1 }],
    ['/constraints/minLength', 'string', { minLength: 1.5 }],
    ['/constraints/minLength', 'string', { minLength: 6, maxLength: 5 }],
    ['/constraints/minLength', 'string', { minLength: 1001 }],
    ['/constraints/maxItems', 'string', { maxItems: 101 }, { multiple: true }],
    ['/constraints/scale', 'decimal', { scale: -1 }],
    ['/constraints/pattern', 'string', { pattern: '(a' }],
    ['/constraints/pattern', 'string', { pattern: '(?=a)' }],
    ['/constraints/pattern', 'string', { pattern: '(a)\\1' }],
    ['/constraints/pattern', 'string', { pattern: 5 }],
    ['/constraints/pattern', 'string', { pattern: 'x'.repeat(1001) }],
    ['/constraints/pattern', 'text', { pattern: '(a|b)*a(a|b){500}' }],
    ['/constraints/pattern', 'string', { pattern: '(a|b)*a(a|b){500}' }, { multiple: true }],
    ['/constraints/min', 'integer', { min: '5' }],
    ['/constraints/min', 'integer', { min: 2 ** 53 }],
    ['/constraints/min', 'integer', { min: 6, max: 5 }],
    ['/constraints/max', 'decimal', { max: 'x' }],
    ['/constraints/min', 'decimal', { min: '0.2', max: '0.10000000000000000001' }],
    ['/constraints/min', 'date', { min: '2026-02-30' }],
    ['/constraints/min', 'date', { min: '2026-01-02', max: '2026-01-01' }],
    ['/constraints/max', 'datetime', { max: '2026-01-01' }],
    ['/constraints/min', 'datetime', { min: '2026-01-01T00:00:00Z', max: '2026-01-01T02:00:00+03:00' }],
    ['/constraints/max', 'time', { max: '24:00' }],
    ['/constraints/options', 'enum', {}],
    ['/constraints/options', 'enum', { options: [] }],
    ['/constraints/options', 'enum', { options: 'p1' }],
    ['/constraints/options', 'enum', options(...Array.from({ length: 1001 }, (_, index) => `o${index}`))],
    ['/constraints/options/1/code', 'enum', options('a', 'a')],
    ['/constraints/options/0/code', 'enum', options('')],
    ['/constraints/options/0/code', 'enum', options('__proto__')],
    ['/constraints/options/0/code', 'enum', options(5)],
    ['/constraints/options/0/code', 'enum', { options: [null] }],
    ['/constraints/types', 'reference', { types: [] }],
    ['/constraints/types', 'reference', { types: 'asset' }],
    ['/constraints/types/0', 'reference', { types: ['Not A Code'] }],
    ['/constraints/types/1', 'reference', { types: ['asset', 'asset'] }],
    ['/default', 'string', { maxLength: 2 }, { default: 'abc' }],
    ['/default', 'string', {}, { default: '' }],
    ['/default', 'string', {}, { default: null }],
    ['/default', 'integer', {}, { default: '5' }],
    ['/default', 'enum', OPTIONS, { default: 'p9' }],
    ['/default/1', 'enum', OPTIONS, { multiple: true, default: ['p1', 'p1'] }],
    ['/default', 'user', {}, { default: 5 }],
    ['/default', 'user', {}, { default: ['petrova'] }],
    ['/default', 'user', {}, { multiple: true, default: 'petrova' }],
    ['/default', 'user', {}, { multiple: true, default: ['a', 'a'] }],
    ['/default', 'user', {}, { multiple: true, default: [] }],
    ['/default', 'user', { maxItems: 1 }, { multiple: true, default: ['a', 'b'] }],
    ['/default/type', 'rich-text', {}, { default: { type: 'x' } }],
  ];
  for (const [path, ...one] of wrong) {
    it(`reports ${path} of ${JSON.stringify(one).slice(0, 60)}`, () => assert.deepEqual(paths(one), [path]));
  }

  it('reports all problems at once', () => {
    assert.deepEqual(paths(['integer', { min: 'a', max: 'b', maxLength: 1 }]), [
      '/constraints/maxLength',
      '/constraints/min',
      '/constraints/max',
    ]);
  });

  it('accepts only patterns that are fast on the longest value', () => {
    // The most expensive pattern within the limit, with its worst input.
    const heavy = field('string', { pattern: '(.*a.{1,50}b){5}|(a|b)*a(a|b){1000}' });
    assert.deepEqual(checkConstraints(heavy), []);
    const heavier = field('string', { pattern: '(a|b)*a(a|b){1000}(a|b){1000}' });
    assert.equal(checkConstraints(heavier).length, 1);
    const text = Array.from({ length: 1000 }, (_, index) => ((index * 7919) % 13 > 6 ? 'a' : 'b')).join('');
    checkValue(heavy, text, '');
    const took = processorMs(() => {
      checkValue(heavy, text, '');
    });
    assert.ok(took < 5000, `took ${took} ms`);
  });

  it('covers every data type', () => {
    for (const dataType of DATA_TYPES) {
      if (dataType !== 'enum') assert.deepEqual(paths([dataType, {}]), []);
      assert.deepEqual(paths([dataType, { ...(dataType === 'enum' ? OPTIONS : {}), surprise: 1 }]), [
        '/constraints/surprise',
      ]);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { readDocument } from './document.ts';

function problems(text: string): string[] {
  return readDocument(text).problems.map(
    ({ line, column, path, code }) => `${line}:${column} ${path.join('.')} ${code}`,
  );
}

describe('a YAML file of a bundle', () => {
  it('yields JSON values with text in NFC', () => {
    const { value } = readDocument('a: [1, 2.5, "x", yes, 2027-01-01, ~, true]\nи\u0306: "e\u0301"\n');
    assert.deepEqual(value, { a: [1, 2.5, 'x', 'yes', '2027-01-01', null, true], й: 'é' });
    assert.deepEqual(readDocument('').value, null);
    assert.deepEqual(readDocument('# nothing\n').value, null);
    assert.deepEqual(readDocument('\ufeffa: 1').value, { a: 1 });
  });

  it('records the position of every value', () => {
    const document = readDocument(
      'types:\n  - code: a\n    fields:\n      - { code: x,\n          dataType: string }\n',
    );
    assert.deepEqual(document.locate(['types', 0, 'fields', 0, 'dataType']), { line: 5, column: 21 });
    assert.deepEqual(document.locate(['types', 0, 'fields', 0, 'dataType'], true), { line: 5, column: 11 });
    // A missing value is reported at the position of its parent.
    assert.deepEqual(document.locate(['types', 0, 'fields', 0, 'name']), { line: 4, column: 9 });
    assert.deepEqual(document.locate([]), { line: 1, column: 1 });
  });

  it('follows anchors and rejects unknown ones', () => {
    const document = readDocument('a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n');
    assert.deepEqual(document.value, { a: { b: [1] }, c: { b: [1] }, d: [{ b: [1] }, { b: [1] }] });
    // Values from an alias are located at the anchor.
    assert.deepEqual(document.locate(['d', 1, 'b', 0]), { line: 1, column: 12 });
    assert.deepEqual(problems('a: *x\n'), ['1:4 a UNKNOWN_ANCHOR']);
  });

  it('rejects YAML that JSON cannot represent', () => {
    assert.deepEqual(problems('a: 1\na: 2\n'), ['2:1 a DUPLICATE_KEY']);
    assert.deepEqual(problems('x:\n  1: a\n'), ['2:3 x INVALID_KEY']);
    assert.deepEqual(problems('__proto__: {a: 1}\n'), ['1:1  INVALID_KEY']);
    assert.deepEqual(problems('a: 9007199254740993\n'), ['1:4 a NOT_EXACT']);
    assert.deepEqual(problems('a: .inf\n'), ['1:4 a NOT_EXACT']);
    assert.deepEqual(problems('a: "\\0"\n'), ['1:4 a INVALID_TEXT']);
    assert.equal(problems('a: !!binary aGk=\n').length, 1);
    assert.equal(problems('a: !own x\n').length, 1);
    assert.deepEqual(problems('a: 1\n---\nb: 2\n'), ['3:1  NOT_ALLOWED']);
  });

  it('reports the position of syntax errors', () => {
    assert.match(problems('a: [1,\nb: 2\n').join(), /^2:/);
    assert.match(problems('a:\n\t- x\n').join(), /^2:1 /);
  });

  it('is protected against expansion by anchors, deep nesting and cycles', () => {
    const attack = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 12; level++)
      attack.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join()}]`,
      );
    assert.deepEqual(problems(attack.join('\n')), ['1:1  TOO_LARGE']);
    assert.match(problems(`a: ${'['.repeat(200)}${']'.repeat(200)}`).join(), /TOO_DEEP/);
    assert.ok(problems(`a: ${'['.repeat(100_000)}`).length > 0);
    assert.match(problems('a: &a [*a]\n').join(), /TOO_DEEP|UNKNOWN_ANCHOR/);
  });

  it('round-trips every value that an export writes', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 }).map((one) => one.normalize('NFC'));
    const tricky = fc.constantFrom(
      'yes',
      'null',
      '~',
      '1',
      '1.0',
      '0x1',
      '2027-01-01',
      '- a',
      'a: b',
      '#',
      ' x ',
      '\n',
      'x\n\n',
      '*',
      '&a',
      '!!x',
      '\t',
    );
    const leaf = fc.oneof(text, tricky, fc.boolean(), fc.integer(), fc.constant(null));
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'имя', 'ru-RU', '$reason', 'true', '1', 'x y'), tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const written = stringify({ value }, { lineWidth: 0, aliasDuplicateObjects: false });
        assert.deepEqual(readDocument(written).value, JSON.parse(JSON.stringify({ value })));
      }),
      { numRuns: 500 },
    );
  });
});

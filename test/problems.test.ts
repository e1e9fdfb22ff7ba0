/** Every problem has an English and a Russian text with the same placeholders. A missing text does not compile. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { readDocument } from '../src/configuration/document.ts';
import { readFilter } from '../src/domain/search/filter.ts';
import { FAULTS } from '../src/lib/fault-codes.ts';
import { isFault } from '../src/lib/fault.ts';
import { forType, PROBLEMS, problem, withNearNames } from '../src/lib/problem.ts';
import { PLAN_NOTES } from '../src/lib/problem-texts-configuration.ts';
import { FAULT_PROBLEMS } from '../src/lib/problem-texts-faults.ts';
import { REQUEST_PHRASES } from '../src/lib/problem-texts-requests.ts';
import { PHRASES as VALUE_PHRASES } from '../src/lib/problem-texts-values.ts';
import { faultTexts } from '../web/src/problems/fault-texts.ts';
import { RUSSIAN_PHRASES, RUSSIAN_PLAN_NOTES, RUSSIAN_PROBLEMS, russianText } from '../web/src/problems/russian.ts';
import { filesBelow, isTestFile, ROOT } from './support/source-files.ts';

const PHRASES = { ...VALUE_PHRASES, ...REQUEST_PHRASES };

/** The names of the placeholders, each once: one language may need to repeat one. */
const placeholders = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))].sort();

const english = Object.entries(PROBLEMS).map(([reason, [code, text]]) => ({ reason, code, text }));

describe('texts of problems', () => {
  it('have the same placeholders in both languages', () => {
    const texts: Readonly<Record<string, string>> = RUSSIAN_PROBLEMS;
    assert.deepEqual(Object.keys(texts).sort(), english.map(({ reason }) => reason).sort());
    for (const { reason, text } of english) {
      assert.deepEqual(placeholders(texts[reason] ?? ''), placeholders(text), `${reason}: ${text}`);
    }
    for (const [name, text] of Object.entries(PHRASES)) {
      assert.deepEqual(placeholders(RUSSIAN_PHRASES[name as keyof typeof PHRASES]), placeholders(text), name);
    }
    for (const [reason, text] of Object.entries(PLAN_NOTES)) {
      assert.deepEqual(placeholders(RUSSIAN_PLAN_NOTES[reason as keyof typeof PLAN_NOTES]), placeholders(text), reason);
      assert.ok(!Object.hasOwn(PROBLEMS, reason), `${reason} names one text`);
    }
  });

  it('are sentences, and in Russian for Russian', () => {
    for (const { reason, code, text } of english) {
      assert.match(code, /^[A-Z][A-Z0-9_]+$/);
      if (text.endsWith('{cause}')) continue;
      assert.match(text, /^[A-Za-z{].*\.$/s, reason);
      assert.match(RUSSIAN_PROBLEMS[reason as keyof typeof PROBLEMS], /^[А-ЯЁa-zA-Z{].*[а-яё].*\.$/s, reason);
    }
  });

  it('are used: each reason occurs in the source', () => {
    const sources = filesBelow('src')
      .filter((file) => file.endsWith('.ts') && !file.includes('problem-texts') && !isTestFile(file))
      .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
      .join('\n');
    const unused = english.filter(({ reason }) => !reason.startsWith('YAML_') && !sources.includes(`'${reason}'`));
    assert.deepEqual(
      unused.map(({ reason }) => reason),
      [],
    );
  });

  it('exist for every code of a fault, and every cause belongs to a code', () => {
    for (const language of ['ru-RU', 'en-US'] as const) {
      const texts: Readonly<Record<string, string>> = faultTexts[language];
      assert.deepEqual(Object.keys(texts).sort(), [...Object.keys(FAULTS), 'OFFLINE', 'UNEXPECTED'].sort(), language);
      for (const [code, text] of Object.entries(texts)) {
        assert.match(text, language === 'ru-RU' ? /^[А-ЯЁ].*\.$/ : /^[A-Z][A-Za-z ,.]*\.$/, code);
      }
    }
    for (const [reason, [code]] of Object.entries(FAULT_PROBLEMS)) {
      assert.ok(Object.hasOwn(FAULTS, code), reason);
      assert.ok(!Object.hasOwn(FAULTS, reason), `${reason} names one text`);
    }
  });

  it('show params, lists and alternatives', () => {
    const tooLong = problem('TEXT_TOO_LONG', { max: 63 });
    assert.equal(tooLong.message, 'Use at most 63 characters.');
    assert.equal(russianText(tooLong), 'Символов должно быть не больше 63.');
    const either = problem('WRONG_TYPE', {
      expected: [{ phrase: 'ONE_OF', values: '"a", "b"' }, { phrase: 'LIST' }, { phrase: 'LIST' }],
    });
    assert.equal(either.message, 'Use one of "a", "b" or a list.');
    assert.equal(russianText(either), 'Укажите одно из: "a", "b" или список.');
    const known = problem('UNKNOWN_KEY', { name: 'colour', known: ['code', 'name'] });
    assert.equal(known.message, 'Unknown key colour. Known keys: code, name.');
    const typed = forType(problem('NO_FIELD', { field: 'b' }), 'incident');
    assert.equal(typed.message, 'There is no field b here (type incident).');
    assert.equal(russianText(typed), 'Поля b здесь нет (тип записей incident).');
    const meant = withNearNames(typed, 'b', ['bb', 'c', 'xyz']);
    assert.equal(meant.message, 'There is no field b here (type incident). Did you mean bb or c?');
    assert.equal(russianText(meant), 'Поля b здесь нет (тип записей incident). Возможно, имелось в виду bb или c?');
    // A value is never taken for a placeholder.
    assert.equal(problem('UNKNOWN_ANCHOR', { name: '{max}' }).message.includes('{max}'), true);
    assert.equal(russianText({ message: 'Newer.', reason: 'FROM_A_NEWER_SERVICE' }), undefined);
  });

  it('name the causes of malformed JSON and CSV in both languages', () => {
    assert.throws(
      () => readFilter('{"field" 1}'),
      (error: unknown) => {
        assert.ok(isFault(error, 'INVALID_FILTER') && Array.isArray(error.details));
        const [detail] = error.details;
        assert.ok(detail !== undefined);
        assert.equal(
          detail.message,
          'The filter is not strict JSON: Invalid JSON at line 1, column 10: a colon is expected here.',
        );
        assert.equal(
          russianText(detail),
          'Фильтр — не строгий JSON. Строка 1, позиция 10: здесь должно быть двоеточие.',
        );
        return true;
      },
    );
    const csv = problem('MALFORMED_CSV', { line: 2, column: 3, cause: { phrase: 'CSV_CELL_COUNT', count: 3 } });
    assert.equal(
      csv.message,
      'The CSV is malformed at line 2, column 3: the record has 3 cells, which differs from the header.',
    );
    assert.equal(
      russianText(csv),
      'Ошибка в CSV, строка 2, позиция 3: число ячеек в записи (3) отличается от числа столбцов в заголовке.',
    );
  });

  it('exist for the errors of the YAML parser', () => {
    for (const [text, russian] of [
      ['a: "x', 'Не хватает символа «"». Добавьте его.'],
      ['a: [1, 2', /закройте скобкой\.$/],
      ['[1, 2', 'Не хватает символа «]». Добавьте его.'],
      ['a:\n\t- x\n', 'Отступ нельзя делать табуляцией. Используйте пробелы.'],
      ['a:\n    b: 1\n   c: 2\n', /^Неверный отступ\./],
      ['a: 1\nb\n', 'Не хватает символа «:». Добавьте его.'],
      ['a: @x\n', /^Текст не может начинаться с этого символа\./],
      ['a: !own x\n', /^Тег неизвестен/],
      ['a: 1\na: 2\n', 'Ключ a указан дважды. Удалите один из них.'],
    ] as const) {
      const [first] = readDocument(text).problems;
      const said = first === undefined ? '' : russianText(first);
      if (typeof russian === 'string') assert.equal(said, russian, text);
      else assert.match(said ?? '', russian, text);
    }
  });
});

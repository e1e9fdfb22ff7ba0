/** The console's pure rules: constraints of entered values, durations, conditions, snippets, CSV. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseDocument } from 'yaml';
import { checkValue, type FieldDefinition } from '../src/domain/metadata/index.ts';
import { OPERATORS as SERVED, operatorFits } from '../src/lib/filter.ts';
import { DATA_TYPES, type DataType, isWebAddress } from '../src/lib/data-types/index.ts';
import { dotted, filesBelow, type Node, readSources, ROOT, walk } from './support/source-files.ts';
import { codeFrom, followCode, type Path } from '../web/src/admin/config/codes.ts';
import { guessIdentifier, guessTargets, guessTransforms } from '../web/src/admin/imports/guess.ts';
import { checkField } from '../web/src/fields/check.ts';
import { parseDuration, showDuration } from '../web/src/fields/duration.ts';
import {
  countLeaves,
  isComplete,
  OPERATORS,
  operatorsFor,
  parseCondition,
  valueFor,
} from '../web/src/filters/model.ts';
import { fromInput, toInput } from '../web/src/i18n/clock.ts';
import { toCsv } from '../web/src/ui/csv.ts';

function field(dataType: DataType, constraints = {}, multiple = false): FieldDefinition & { constraints: object } {
  return {
    code: 'f',
    name: 'F',
    dataType,
    required: false,
    readOnly: false,
    multiple,
    constraints,
    search: { text: false, filter: false, facet: false },
  };
}

/** Files without server code, which the console and the server share: closed lists and the rules on them. */
const SHARED =
  /(?:^|[/])src[/](?:contract[/](?:comment-visibility|events|field-roles|rights|rule-fields|state)|lib[/](?:code-from-title|data-types[/]index|excerpts|filter-types|mentions|problem-fill|report-query))[.]ts$/;

describe('codes of configuration parts', () => {
  const item = (code: string) =>
    `code: ticket\nfields:\n  - code: ${code}\n    dataType: string\nlayout:\n  sections: [{ fields: [${code}] }]\n`;
  const named = (text: string, name: string, saved = {}) => {
    const document = parseDocument(text);
    const before: unknown = document.toJS();
    const path = ['fields', 0, 'name'];
    document.setIn(path, document.createNode({ 'ru-RU': name }));
    followCode(document, before, path, { 'ru-RU': name }, { saved, template: {} });
    return document.toJS() as { fields: { code: string }[]; layout: { sections: { fields: string[] }[] } };
  };

  it('are transliterated from the name', () => {
    assert.equal(codeFrom('Заявка на ноутбук'), 'zayavka-na-noutbuk');
    assert.equal(codeFrom('Серийный номер', 'camel'), 'seriynyyNomer');
    assert.equal(codeFrom('2 Büro & Café', 'dash'), 'buro-cafe');
    assert.equal(codeFrom('日本'), '');
    assert.match(codeFrom('ж'.repeat(100)), /^[a-z][a-z0-9-]{0,62}$/);
  });

  it('follow the name, and references follow the code', () => {
    const { fields, layout } = named(item('field1'), 'Номер');
    assert.equal(fields[0]?.code, 'nomer');
    assert.deepEqual(layout.sections[0]?.fields, ['nomer']);
  });

  it('stay when they are saved or were typed', () => {
    assert.equal(named(item('serial'), 'Номер').fields[0]?.code, 'serial');
    const saved = { code: 'ticket', fields: [{ code: 'field1' }] };
    assert.equal(named(item('field1'), 'Номер', saved).fields[0]?.code, 'field1');
  });

  it('keep the saved code as `was`, until it is back', () => {
    const saved = { code: 'flow', states: [{ code: 'open', category: 'open' }] };
    const document = parseDocument('code: flow\ninitial: open\nstates: [{ code: open, category: open }]\n');
    const first: unknown = document.toJS();
    const rename = (path: Path, code: string): unknown => {
      followCode(document, document.toJS(), path, code, { saved, template: {} });
      return document.toJS();
    };
    const path = ['states', 0, 'code'];
    assert.deepEqual(rename(path, 'active'), {
      code: 'flow',
      initial: 'active',
      states: [{ code: 'active', category: 'open', was: 'open' }],
    });
    assert.deepEqual(rename(path, 'running'), {
      code: 'flow',
      initial: 'running',
      states: [{ code: 'running', category: 'open', was: 'open' }],
    });
    assert.deepEqual(rename(path, 'open'), first);
    assert.deepEqual(rename(['code'], 'process'), { ...(first as object), code: 'process', was: 'flow' });
  });
});

describe('the guessed mapping of an import', () => {
  const field = (value: string, label: string, dataType: DataType, more = {}) => ({ value, label, dataType, ...more });
  const fields = [
    field('title', 'Тема', 'string'),
    field('assignee', 'Исполнитель', 'user'),
    field('assignmentGroup', 'Группа', 'group'),
    field('priority', 'Приоритет', 'enum', { options: [{ code: 'p3', name: 'Средний' }] }),
    field('category', 'Категория', 'reference', { types: ['category'] }),
    field('startedAt', 'Взят в работу', 'datetime'),
  ];

  it('follows the code, the name and words of the same meaning', () => {
    const columns = ['number', 'short_description', 'Assigned To', 'assignment_group', 'ПРИОРИТЕТ', 'unknown'];
    const found = [...guessTargets(columns, fields)].map(([column, { value }]) => `${column}=${value}`).sort();
    assert.deepEqual(found, [
      'Assigned To=assignee',
      'assignment_group=assignmentGroup',
      'short_description=title',
      'ПРИОРИТЕТ=priority',
    ]);
  });

  it('gives the transforms that the values need', () => {
    const titles = new Map([['category', 'title']]);
    const steps = (code: string, ...values: string[]) =>
      guessTransforms(fields.find(({ value }) => value === code)!, values, titles);
    assert.deepEqual(steps('title', ' a'), ['trim']);
    assert.deepEqual(steps('assignee', 'anna'), ['user:login']);
    assert.deepEqual(steps('priority', 'средний'), ['map:{"средний":"p3"}']);
    assert.deepEqual(steps('priority', 'p3'), []);
    assert.deepEqual(steps('category', 'Почта'), ['lookup:category.title']);
    assert.deepEqual(steps('startedAt', '29/2/2016 01:16'), ['datetime:D/M/YYYY HH:mm']);
    assert.deepEqual(steps('startedAt', '2026-01-01T10:00:00Z'), []);
  });

  it('chooses an identifying column with distinct values', () => {
    assert.equal(
      guessIdentifier(
        ['title', 'type_id', 'number'],
        [
          { title: 'a', type_id: '1', number: '1' },
          { title: 'a', type_id: '1', number: '2' },
        ],
      ),
      'number',
    );
  });
});

type Schema = Parameters<typeof checkField>[0];

describe('the value rules of the console', () => {
  it('accept the same values as the service', () => {
    const samples: readonly [DataType, object, unknown[]][] = [
      ['string', { maxLength: 5 }, ['a', 'ёжик', '12345', '123456', 'a\nb', '😀😀😀😀😀']],
      ['text', {}, ['a\nb', 'x'.repeat(1000)]],
      ['integer', { min: 1, max: 10 }, [0, 1, 10, 11, -3]],
      ['decimal', { scale: 2, min: '0.5' }, ['0.5', '1.25', '1.255', '0.4', '12']],
      [
        'url',
        {},
        [
          'https://example.org/a?b=c',
          'http://xn--e1afmkfd.xn--p1ai/',
          'javascript:x',
          'https://u:p@example.org',
          'ftp://x',
          'https://пример.рф/путь',
        ],
      ],
      ['email', {}, ['a@example.org', 'a.b+c@sub.example.org', 'a', 'a@b', '@b.c', 'почта@пример.рф']],
      ['phone', {}, ['+7 495 123-45-67', '8 (495) 123-45-67 доб. 12', '112', 'abc', '+7 495 123-45-67 x12']],
      ['duration', {}, ['PT4H', 'P1DT30M', 'P1W', 'P3Y', 'four hours', 'PT']],
      ['date', { min: '2026-01-01' }, ['2026-11-21', '2025-12-31', '21.11.2026']],
      ['time', {}, ['09:15', '09:15:30', '9:15']],
      ['enum', { options: [{ code: 'a', name: 'A' }] }, ['a', 'b']],
    ];
    let taken = 0;
    for (const [dataType, constraints, values] of samples) {
      const one = field(dataType, constraints);
      for (const value of values) {
        const served = checkValue(one, value, '').ok;
        const said = checkField(one as unknown as Schema, value);
        assert.equal(said === undefined, served, `${dataType} ${JSON.stringify(value)}`);
        taken += served ? 1 : 0;
      }
    }
    assert.ok(taken > 20, `${taken} samples are taken`);
    for (const [dataType, value, code] of [
      ['string', 'a\nb', 'NOT_ONE_LINE'],
      ['integer', 'x', 'WRONG_TYPE'],
      ['integer', '1.5', 'WRONG_TYPE'],
      ['decimal', '1,', 'INVALID_FORMAT'],
      ['url', 'javascript:alert(1)', 'INVALID_FORMAT'],
      ['email', 'a@b', 'INVALID_FORMAT'],
      ['duration', 'soon', 'INVALID_FORMAT'],
    ] as const) {
      assert.equal(checkField(field(dataType) as unknown as Schema, value)?.code, code, `${dataType} ${value}`);
    }
    assert.equal(checkField({ ...(field('string') as unknown as Schema), required: true }, null)?.code, 'REQUIRED');
    assert.equal(checkField(field('string', { maxItems: 1 }, true) as unknown as Schema, ['a', 'b'])?.code, 'TOO_MANY');
    assert.equal(checkField(field('string', {}, true) as unknown as Schema, ['a', 'a'])?.code, 'NOT_UNIQUE');
    for (const address of ['javascript:alert(1)', 'data:text/html,x', ' https://a', 'https://a@b/', '//a']) {
      assert.ok(!isWebAddress(address), address);
    }
  });

  it('parse durations as users write them, and format them so that they can be parsed', () => {
    for (const [text, iso] of [
      ['4ч', 'PT4H'],
      ['1д 30м', 'P1DT30M'],
      ['2h 15m', 'PT2H15M'],
      ['1 нед 2 дн', 'P9D'],
      ['90 мин', 'PT90M'],
      ['pt4h', 'PT4H'],
      ['0м', 'PT0M'],
    ] as const) {
      assert.equal(parseDuration(text), iso, text);
    }
    for (const text of ['', 'x', '4', '4ч и 5', 'P', 'PT', '-4ч']) assert.equal(parseDuration(text), undefined, text);
    const amount = fc.nat({ max: 999 });
    fc.assert(
      fc.property(amount, amount, amount, (days, hours, minutes) => {
        const iso = `P${days + 1}DT${hours}H${minutes}M`;
        assert.equal(parseDuration(showDuration(iso, 'д ч м с')), iso);
      }),
    );
  });

  it('offer exactly the condition operators that the service accepts', () => {
    assert.deepEqual([...OPERATORS].sort(), [...SERVED].sort());
    for (const dataType of DATA_TYPES) {
      const fits = SERVED.filter((operator) => operatorFits(operator, dataType));
      assert.deepEqual([...operatorsFor(dataType)].sort(), [...fits].sort(), dataType);
    }
    const leaf = { field: 'a', operator: 'equals', value: 'x' } as const;
    assert.deepEqual(parseCondition(JSON.stringify(leaf)), leaf);
    for (const bad of [
      '',
      '[]',
      '{"field":"a"}',
      '{"field":"a","operator":"like"}',
      '{"logic":"XOR","conditions":[]}',
    ]) {
      assert.equal(parseCondition(bad), undefined, bad);
    }
    let deep: object = leaf;
    for (let level = 0; level < 5; level++) deep = { logic: 'AND', conditions: [deep] };
    assert.equal(parseCondition(JSON.stringify(deep)), undefined, 'nested too deep');
    assert.ok(isComplete(leaf) && !isComplete({ ...leaf, value: '' }) && !isComplete({ logic: 'AND', conditions: [] }));
    assert.ok(!isComplete({ field: 'a', operator: 'range', value: [1, null] }));
    assert.equal(countLeaves({ logic: 'OR', conditions: [leaf, { logic: 'AND', conditions: [leaf, leaf] }] }), 3);
    assert.deepEqual(
      [valueFor('in', 'x'), valueFor('range', 'x'), valueFor('is-empty', 'x'), valueFor('equals', ['x'])],
      [['x'], ['x', null], true, 'x'],
    );
  });

  it('live in small files and import only types and shared lists from the server', () => {
    const files = filesBelow('web/src', ['.ts', '.tsx', '.css']);
    assert.ok(files.length >= 80, `only ${files.length} files were found`);
    for (const file of files) {
      const text = readFileSync(path.join(ROOT, file), 'utf8');
      assert.ok(text.split('\n').length <= 401, `${file} is too long`);
      assert.match(file, /^web\/src\/(?:[a-z0-9-]+\/)*[a-z0-9-]+(?:\.module)?\.(?:tsx?|css)$/);
      const values = [...text.matchAll(/^import (?!type )[^;]*from '([^']*\/src\/[^']*)';/gm)].map(
        (match) => match[1] ?? '',
      );
      const foreign = values.filter((target) => !SHARED.test(target));
      assert.deepEqual(foreign, [], `${file} imports values of the server`);
      assert.doesNotMatch(text, /dangerouslySetInnerHTML|\.innerHTML\s*=/, file);
      if (file !== 'web/src/ui/action.ts') assert.doesNotMatch(text, /invalidateQueries/, `${file}: use invalidate()`);
    }
  });

  it('have every text in both languages', () => {
    const strings = (root: Node): string[] =>
      [...walk(root)].flatMap(([node]) => {
        const value = node.type === 'TemplateElement' ? (node['value'] as { cooked: unknown }).cooked : node['value'];
        return typeof value === 'string' ? [value] : [];
      });
    const byKey = (root: Node): Map<unknown, string> =>
      new Map(
        ((root['properties'] ?? []) as Node[]).flatMap((property) => {
          const key = property['key'] as Node | undefined;
          return key === undefined ? [] : [[key['name'] ?? key['value'], strings(property['value'] as Node).join(' ')]];
        }),
      );
    const isRussian = (text: string): boolean => /\p{Script=Cyrillic}/u.test(text);
    // A text without a word of its language is a name, which is the same in both.
    const names = new Set(['api']);
    let pairs = 0;
    for (const file of readSources('web/src')) {
      for (const [node] of walk(file.program)) {
        if (node.type !== 'CallExpression' || !/^(?:defineText|both)$/.test(dotted(node['callee']))) continue;
        const [russian, english] = node['arguments'] as [Node, Node];
        assert.deepEqual(strings(english).filter(isRussian), [], `${file.path}: English texts`);
        const others = byKey(english);
        for (const [key, text] of byKey(russian)) {
          pairs++;
          if (!isRussian(text) && !names.has(String(key))) assert.equal(text, others.get(key), `${file.path}: ${key}`);
        }
      }
    }
    assert.ok(pairs > 500, `only ${pairs} texts were found`);
  });

  it('share only files that run in a browser', () => {
    const sources = new Map(readSources('src/lib', 'src/contract').map((source) => [source.path, source]));
    const shared = readSources('web/src').flatMap(({ imports }) => imports.filter(({ typeOnly }) => !typeOnly));
    const open = [...new Set(shared.flatMap(({ target }) => (target?.startsWith('src/') === true ? [target] : [])))];
    assert.ok(open.includes('src/lib/data-types/index.ts'));
    const seen = new Set(open);
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      const source = sources.get(file);
      assert.ok(source !== undefined, `${file} is not in src/lib or src/contract`);
      for (const { specifier, target, typeOnly } of source.imports) {
        if (typeOnly || (target !== null && seen.has(target))) continue;
        assert.ok(target !== null, `${file} imports ${specifier}`);
        seen.add(target);
        open.push(target);
      }
      for (const [node] of walk(source.program)) {
        const name = node.type === 'Identifier' ? String(node['name']) : '';
        assert.ok(!['Buffer', 'Temporal', 'process'].includes(name), `${file} uses ${name}`);
      }
    }
    assert.ok(seen.size > 8, [...seen].join(' '));
  });

  it('export cells that are no formulas', () => {
    assert.equal(
      toCsv(
        ['a', 'b'],
        [
          ['=1+1', 'x,y'],
          ['+7', 'he said "no"'],
          [-5, null],
          ['@a', 'a\nb'],
        ],
      ),
      ['a,b', `'=1+1,"x,y"`, `'+7,"he said ""no"""`, '-5,', `'@a,"a\nb"`].join('\r\n'),
    );
  });
});

describe('the console', () => {
  it('has a name in both languages for every property of a bundle', () => {
    const names = new Set<string>();
    const collect = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, one] of Object.entries(value)) {
        if (key === 'properties') for (const name of Object.keys(one as object)) names.add(name);
        collect(one);
      }
    };
    collect(JSON.parse(readFileSync(path.join(ROOT, 'docs/reference/bundle.schema.json'), 'utf8')));
    assert.ok(names.size > 100);
    const texts = readFileSync(path.join(ROOT, 'web/src/admin/config/property-texts.ts'), 'utf8');
    assert.deepEqual([...names].filter((name) => !texts.includes(`\n  ${name}: both(`)).sort(), []);
  });

  it('uses no light-dark(), which the build turns into variables that nothing sets', () => {
    const files = filesBelow('web/src', ['.css']);
    assert.ok(files.length > 20);
    const using = files.filter((file) => readFileSync(path.join(ROOT, file), 'utf8').includes('light-dark('));
    assert.deepEqual(using, []);
  });
});

describe('times in the time zone of a user', () => {
  it('are shown and entered in local time, in summer and winter', () => {
    assert.equal(toInput('2026-11-21T21:05:00.000Z', 'Europe/Moscow'), '2026-11-22T00:05');
    assert.equal(fromInput('2026-11-22T00:05', 'Europe/Moscow'), '2026-11-21T21:05:00.000Z');
    assert.equal(fromInput('2026-07-01T09:00', 'Europe/Berlin'), '2026-07-01T07:00:00.000Z');
    assert.equal(fromInput('2026-12-01T09:00', 'Europe/Berlin'), '2026-12-01T08:00:00.000Z');
    assert.equal(fromInput('2026-12-01T09:00', 'Asia/Kathmandu'), '2026-12-01T03:15:00.000Z');
  });

  it('round-trip for every hour of the days on which clocks change', () => {
    for (const zone of ['Europe/Berlin', 'America/New_York', 'Pacific/Auckland', 'Europe/Moscow', 'UTC']) {
      for (const day of ['2026-03-08', '2026-03-29', '2026-04-05', '2026-09-27', '2026-10-25', '2026-11-01']) {
        for (let hour = 0; hour < 24; hour++) {
          const shown = toInput(new Date(Date.parse(`${day}T00:00:00Z`) + hour * 3_600_000).toISOString(), zone);
          assert.equal(toInput(fromInput(shown, zone), zone), shown, `${zone} ${shown}`);
        }
      }
    }
  });

  it('are empty for an empty value', () => {
    assert.deepEqual([toInput('', 'UTC'), fromInput('', 'UTC'), fromInput('x', 'UTC')], ['', '', '']);
  });
});

/**
 * What is wrong with a configuration has a Russian sentence in the console. The sentences are read from the source that says
 * them, so that a new one is noticed; what they are put together from is provoked. Bundle tests ask the same of all that they
 * provoke.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { readDocument } from '../src/configuration/document.ts';
import { checkValue, type FieldDefinition } from '../src/domain/metadata/index.ts';
import { checkConstraints } from '../src/domain/metadata/value-constraints.ts';
import { DATA_TYPES, type DataType, expectedForm } from '../src/lib/data-types/index.ts';
import { russianProblem } from '../web/src/admin/config/problem-words.ts';
import { YAML_CODES } from '../web/src/admin/config/problem-yaml.ts';
import { SECTIONS } from './harness/bundle-fixture.ts';
import { filesBelow, type Node, parseSource, ROOT, walk } from './harness/source-files.ts';

const say = (message: string, code = ''): string | undefined => russianProblem({ code, message });

/** Where sentences about a configuration are written down. */
const SAYING =
  /^src\/(?:configuration\/(?:document|read|shape|planner|section|store|conditions|record-types|values|checks|define|schemas|audience|hidden-conditions)|platform\/outbound\/address|domain\/\w+\/config[\w-]*|domain\/identity\/names|domain\/inbound\/items|domain\/webhooks\/(?:item|rules)|domain\/sla\/calendar-form|domain\/metadata\/(?:value-(?:check|constraints|json|scalars|text)|rich-text(?:-images)?)|lib\/filter-parse)\.ts$/;

/** Sample values for the placeholders of a sentence. */
const FILLINGS = [
  '"x"',
  'a list',
  'field',
  'user',
  'group',
  'organization',
  'user with the login',
  'is archived; name it in the bundle to restore it',
  'a value of type date',
];

const isText = (node: Node): boolean => node.type === 'TemplateLiteral' || typeof node['value'] === 'string';

/** The texts that a literal may become; several where a choice is written into it. */
function textsOf(node: Node): string[][] {
  if (node.type !== 'TemplateLiteral') return [[String(node['value'])]];
  const quasis = (node['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked);
  let choices: string[][] = [[quasis[0] ?? '']];
  for (const [index, expression] of (node['expressions'] as Node[]).entries()) {
    const branches =
      expression.type === 'ConditionalExpression' ? [expression['consequent'], expression['alternate']] : [];
    const written = (branches as Node[]).filter(isText).flatMap(textsOf);
    const fillings = written.length > 0 ? written : [FILLINGS];
    const rest = quasis[index + 1] ?? '';
    choices = choices.flatMap((texts) =>
      fillings.map((own) => texts.flatMap((text) => own.map((filling) => `${text}${filling}${rest}`))),
    );
  }
  return choices;
}

/** Sentences without a known sample value. */
function unsaid(file: string, text: string): string[] {
  const found: string[] = [];
  for (const [node, above] of walk(parseSource(file, text).program)) {
    if (!isText(node) || above[0]?.type === 'TemplateLiteral') continue;
    const call = above.find(({ type }) => type === 'NewExpression' || type === 'CallExpression');
    if ((call?.['callee'] as { name?: unknown } | undefined)?.name === 'Fault') continue;
    for (const texts of textsOf(node)) {
      const [first = ''] = texts;
      if (!/^["A-Z].* .*\.$/s.test(first)) continue;
      if (texts.every((one) => say(one) === undefined)) found.push(first);
    }
  }
  return found;
}

function field(dataType: DataType, constraints = {}, multiple = false): FieldDefinition {
  const search = { text: false, filter: false, facet: false };
  return { code: 'f', name: 'F', dataType, required: false, readOnly: false, multiple, constraints, search };
}

function refusals(checked: ReturnType<typeof checkValue>): string[] {
  return checked.ok ? [] : checked.problems.map(({ message }) => message);
}

describe('Russian texts of configuration errors', () => {
  it('exist for every sentence in the source', () => {
    const files = filesBelow('src').filter((file) => SAYING.test(file) && !file.endsWith('.test.ts'));
    assert.ok(files.length > 35, `only ${files.length} files were found`);
    assert.deepEqual(
      files.flatMap((file) =>
        unsaid(file, readFileSync(path.join(ROOT, file), 'utf8')).map((one) => `${file}: ${one}`),
      ),
      [],
    );
    const bad =
      "report(p, 'C', 'This is new.'); report(p, 'C', `Use ${a ? 'a list' : 'a new thing'}.`); throw new Fault('C', 'Not asked.');";
    assert.deepEqual(unsaid('bad.ts', bad), ['This is new.', 'Use a new thing.']);
  });

  it('exist for every pattern that a section describes', () => {
    const described: string[] = [];
    const visit = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const { description, pattern } = schema as { description?: string; pattern?: string };
      if (typeof pattern === 'string') {
        described.push(`${description === undefined ? 'It' : `Use ${description}; it`} must match ${pattern}.`);
      }
      for (const part of Object.values(schema)) visit(part);
    };
    for (const { schema } of SECTIONS) visit(schema);
    assert.ok(described.length > 20);
    assert.deepEqual(
      described.filter((message) => say(message) === undefined),
      [],
    );
  });

  it('exist for every required shape of a value', () => {
    const messages = DATA_TYPES.flatMap((dataType) => [
      `The value must be ${expectedForm(dataType)}.`,
      ...[5, 1.5, 1e300, 'x', '', {}, [], true].flatMap((value) =>
        refusals(
          checkValue(field(dataType, dataType === 'enum' ? { options: [{ code: 'a', name: 'A' }] } : {}), value, ''),
        ),
      ),
    ]);
    assert.ok(messages.length > 60);
    assert.deepEqual(
      messages.filter((message) => say(message) === undefined),
      [],
    );
  });

  it('exist for formatted texts', () => {
    const doc = (...content: unknown[]): unknown => ({ type: 'doc', content });
    const image = (attrs: object): unknown => doc({ type: 'image', attrs });
    const cell = (attrs: object): unknown =>
      doc({
        type: 'table',
        content: [{ type: 'tableRow', content: [{ type: 'tableCell', attrs, content: [{ type: 'paragraph' }] }] }],
      });
    const link = (attrs: object): unknown =>
      doc({ type: 'paragraph', content: [{ type: 'text', text: 'x', marks: [{ type: 'link', attrs }] }] });
    const src = `blob:${'0'.repeat(64)}`;
    const wrong = [
      ...[{ src: 'x' }, { src, alt: 5 }, { src, width: 0 }, { src: 'data:x' }, { src, more: 1 }].map(image),
      ...[{ colspan: 0 }, { colwidth: 'x' }].map(cell),
      ...[{ href: 'x' }, { href: 'https://x.org', target: 'y' }].map(link),
      doc({ type: 'codeBlock', attrs: { language: 5 } }, { type: 'listItem' }, { type: 'blockquote' }),
      doc({ type: 'orderedList', attrs: { type: 'z' }, content: [] }),
    ];
    const messages = wrong.map((value) => refusals(checkValue(field('rich-text'), value, '')));
    for (const [index, list] of messages.entries()) assert.ok(list.length > 0, JSON.stringify(wrong[index]));
    assert.deepEqual(
      messages.flat().filter((message) => say(message) === undefined),
      [],
    );
  });

  it('exist for every reason why a pattern is invalid', () => {
    const library = readFileSync(path.join(ROOT, 'node_modules/re2js/build/index.js'), 'utf8');
    const reasons = [...library.matchAll(/static ERR_\w+ = "([^"]+)"/g)].map(([, reason = '']) => reason);
    assert.ok(reasons.length > 10);
    for (const reason of reasons) {
      const said = say(`The pattern is not of RE2 syntax: ${reason}: \`[a\`.`) ?? 'unsaid';
      assert.match(said, /^Образец не по правилам RE2: [а-я].*: `\[a`\.$/, reason);
    }
    for (const pattern of ['[a', 'a)', '*a', 'a{2000}', 'a\\', '(?=a)', '(?P<n>a)(?P<n>b)', '[b-a]']) {
      const [problem] = checkConstraints(field('string', { pattern }));
      assert.match(say(problem?.message ?? '') ?? 'unsaid', /^Образец не по правилам RE2: [а-я]/, pattern);
    }
  });

  it('exist for every error of the YAML parser', () => {
    const declared = readFileSync(path.join(ROOT, 'node_modules/yaml/dist/errors.d.ts'), 'utf8');
    const codes = /type ErrorCode = ([^;]+);/.exec(declared)?.[1]?.match(/\w+/g) ?? [];
    assert.ok(codes.length > 15);
    assert.deepEqual([...YAML_CODES.keys()].sort(), codes.sort());
    const said = (text: string): (string | undefined)[] => readDocument(text).problems.map(russianProblem);
    for (const [text, first] of [
      ['a: "x', 'Не хватает закрывающей кавычки: "'],
      ['a: [1, 2', 'Не хватает закрывающей скобки «]» или отступа перед ней.'],
      ['a:\n\t- x\n', 'Отступ сделан табуляцией; замените её пробелами.'],
      [
        'a: b: c\n',
        'Здесь не может стоять ещё один ключ: перенесите его на новую строку или возьмите значение в кавычки.',
      ],
      ['a:\n    b: 1\n   c: 2\n', 'Ключи одного уровня должны начинаться с одной позиции.'],
      ['a: 1\nb\n', 'После ключа не хватает двоеточия и значения.'],
      ['a: @x\n', 'С этого знака текст начинаться не может; возьмите его в кавычки.'],
      ['a: "\\q"\n', 'Внутри двойных кавычек после обратной черты стоит не то; саму черту пишут дважды: \\\\.'],
      ['a: !own x\n', 'Метки !own нет; уберите её.'],
      ['a: 1\na: 2\n', 'Ключ a стоит здесь дважды; оставьте один.'],
    ] as const) {
      assert.equal(said(text)[0], first, text);
    }
  });

  it('have the same meaning as the English, with the same codes and numbers', () => {
    for (const [message, russian] of [
      [
        'Use a code such as service-desk; it must match ^[a-z]$.',
        'Укажите код, например service-desk; образец: ^[a-z]$.',
      ],
      ['Use one of "open", "waiting", "done".', 'Укажите одно из: "open", "waiting", "done".'],
      ['Use "inbound-webhook".', 'Укажите "inbound-webhook".'],
      ['Use text or a mapping.', 'Укажите текст или ключи со значениями.'],
      ['Use one of "a or b", "*" or a list.', 'Укажите одно из: "a or b", "*" или список.'],
      ['Use text; put it in quotes.', 'Укажите текст; возьмите в кавычки.'],
      ['Use at most 63 characters.', 'Знаков должно быть не больше 63.'],
      ['There is no key colour here; known are code, name.', 'Ключа colour здесь нет; бывают code, name.'],
      ['There is no user with the login "anna".', 'Человека с логином "anna" нет.'],
      ['There is no field "b" here. (type c)', 'Поля "b" здесь нет (вид записей c).'],
      ['The value must be an integer between -(2^53-1) and 2^53-1.', 'Укажите целое число от -(2^53-1) до 2^53-1.'],
      [
        'The value must be true or false. Use is-empty to ask for no value.',
        'Укажите true или false. Пустое значение ищут через is-empty.',
      ],
      [
        'No transition leads from new to the state done, over however many steps.',
        'Из состояния new в состояние done не попасть ни за сколько переходов.',
      ],
    ] as const) {
      assert.equal(say(message), russian);
    }
    assert.equal(say('Something quite new happened.'), undefined);
    assert.equal(say('Use something new.'), undefined);
  });
});

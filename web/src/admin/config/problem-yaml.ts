/** Russian messages of YAML errors: common ones by message, all others by code. */
import type { Line } from './problem-sentences.ts';

export const YAML_SENTENCES: readonly Line[] = [
  ['Missing closing {quote}quote.', 'Не хватает закрывающей кавычки: {quote}'],
  ['All mapping items must start at the same column.', 'Ключи одного уровня должны начинаться с одной позиции.'],
  ['All sequence items must start at the same column.', 'Строки одного списка должны начинаться с одной позиции.'],
  ['Sequence item without - indicator.', 'Перед строкой списка не хватает «- ».'],
  [
    'Nested mappings are not allowed in compact mappings.',
    'Здесь не может стоять ещё один ключ: перенесите его на новую строку или возьмите значение в кавычки.',
  ],
  ['A block sequence may not be used as an implicit map key.', 'Список не может быть ключом; проверьте отступы.'],
  ['Implicit keys need to be on a single line.', 'Ключ должен быть в одну строку; проверьте отступы и двоеточия.'],
  ['Implicit map keys need to be followed by map values.', 'После ключа не хватает двоеточия и значения.'],
  [
    'Block collections are not allowed within flow collections.',
    'Внутри скобок {} и [] списки и ключи пишут в скобках.',
  ],
  ['Block scalar values in collections must be indented.', 'Текст после | и > пишут с отступом.'],
  [
    '{kind} in block collection must be sufficiently indented and end with a {end}.',
    'Не хватает закрывающей скобки «{end}» или отступа перед ней.',
  ],
  ['{kind} must end with a {end}.', 'Не хватает закрывающей скобки «{end}».'],
  ['Missing , between {kind} items.', 'Внутри скобок не хватает запятой.'],
  ['Missing , or : between {kind} items.', 'Внутри скобок не хватает запятой или двоеточия.'],
  ['Missing space after : in {kind}.', 'После двоеточия не хватает пробела.'],
  ['Unexpected , in {kind}.', 'Лишняя запятая.'],
  [
    'Comments must be separated from other tokens by white space characters.',
    'Перед # в начале примечания нужен пробел.',
  ],
  ['Unresolved tag: {tag}.', 'Метки {tag} нет; уберите её.'],
  ['Not a YAML token: {token}.', 'Это не YAML: {token}.'],
];

/** Messages by error code; complete. */
export const YAML_CODES: ReadonlyMap<string, string> = new Map([
  ['ALIAS_PROPS', 'У ссылки (*) не может быть якоря и метки.'],
  ['BAD_ALIAS', 'Название якоря (&) или ссылки (*) неверное.'],
  ['BAD_COLLECTION_TYPE', 'Метка не подходит к тому, что за ней.'],
  ['BAD_DIRECTIVE', 'Указание, которое начинается с %, неверное; уберите его.'],
  ['BAD_DQ_ESCAPE', 'Внутри двойных кавычек после обратной черты стоит не то; саму черту пишут дважды: \\\\.'],
  ['BAD_INDENT', 'Неверный отступ.'],
  ['BAD_PROP_ORDER', 'Якорь или метка стоит не на своём месте.'],
  ['BAD_SCALAR_START', 'С этого знака текст начинаться не может; возьмите его в кавычки.'],
  ['BLOCK_AS_IMPLICIT_KEY', 'Здесь не может стоять ещё один ключ или список; проверьте отступы.'],
  ['BLOCK_IN_FLOW', 'Внутри скобок {} и [] списки и ключи пишут в скобках.'],
  ['DUPLICATE_KEY', 'Такой ключ здесь уже есть.'],
  ['IMPOSSIBLE', 'Это место не разобрать.'],
  ['KEY_OVER_1024_CHARS', 'Ключ длиннее 1024 знаков.'],
  ['MISSING_CHAR', 'Здесь не хватает знака.'],
  ['MULTILINE_IMPLICIT_KEY', 'Ключ должен быть в одну строку; проверьте отступы и двоеточия.'],
  ['MULTIPLE_ANCHORS', 'Якорь может быть только один.'],
  ['MULTIPLE_DOCS', 'В файле должен быть один документ; уберите «---».'],
  ['MULTIPLE_TAGS', 'Метка может быть только одна.'],
  ['NON_STRING_KEY', 'Ключ должен быть текстом; возьмите его в кавычки.'],
  ['RESOURCE_EXHAUSTION', 'Вложенность или ссылок слишком много.'],
  ['TAB_AS_INDENT', 'Отступ сделан табуляцией; замените её пробелами.'],
  ['TAG_RESOLVE_FAILED', 'Метка не подходит к значению или её нет; уберите её.'],
  ['UNEXPECTED_TOKEN', 'Этого здесь быть не может; проверьте отступы и кавычки.'],
]);

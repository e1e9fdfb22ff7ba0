/** Texts about data types. The compiler names what is missing for a new type or view. */
import type { DataType, View } from '../../../src/lib/data-types/index.ts';
import { defineText } from '../i18n/text.ts';

/** Names of data types. */
export const dataTypeTexts = defineText(
  {
    string: 'Строка',
    text: 'Текст',
    'rich-text': 'Форматированный текст',
    integer: 'Целое число',
    decimal: 'Дробное число',
    boolean: 'Да или нет',
    date: 'Дата',
    datetime: 'Дата и время',
    time: 'Время',
    duration: 'Длительность',
    enum: 'Вариант из списка',
    reference: 'Ссылка на запись',
    user: 'Пользователь',
    group: 'Группа',
    'org-unit': 'Подразделение',
    service: 'Услуга',
    email: 'Адрес почты',
    phone: 'Телефон',
    url: 'Веб-адрес',
    json: 'JSON',
  } satisfies Record<DataType, string>,
  {
    string: 'String',
    text: 'Text',
    'rich-text': 'Formatted text',
    integer: 'Integer',
    decimal: 'Decimal',
    boolean: 'Yes or no',
    date: 'Date',
    datetime: 'Date and time',
    time: 'Time',
    duration: 'Duration',
    enum: 'One of a list',
    reference: 'Reference to a record',
    user: 'User',
    group: 'Group',
    'org-unit': 'Unit',
    service: 'Service',
    email: 'Email address',
    phone: 'Telephone',
    url: 'Web address',
    json: 'JSON',
  },
);

/** What a value must be, for values that do not have the form of their data type. */
export const formTexts = defineText(
  {
    line: 'Недопустимое значение.',
    lines: 'Недопустимое значение.',
    'rich-text': 'Недопустимое значение.',
    url: 'Нужен адрес, начинающийся с http:// или https://.',
    email: 'Нужен адрес электронной почты.',
    phone: 'Нужен номер телефона.',
    integer: 'Нужно целое число.',
    decimal: 'Нужно число.',
    boolean: 'Нужно «да» или «нет».',
    date: 'Нужна дата.',
    datetime: 'Нужны дата и время.',
    time: 'Нужно время.',
    duration: 'Нужна длительность: 4ч, 1д 30м или PT4H.',
    choice: 'Выберите значение из списка.',
    reference: 'Выберите значение из списка.',
    json: 'Некорректный JSON.',
  } satisfies Record<View, string>,
  {
    line: 'The value is not valid.',
    lines: 'The value is not valid.',
    'rich-text': 'The value is not valid.',
    url: 'Enter an address that begins with http:// or https://.',
    email: 'Enter an email address.',
    phone: 'Enter a phone number.',
    integer: 'Enter a whole number.',
    decimal: 'Enter a number.',
    boolean: 'Choose yes or no.',
    date: 'Enter a date.',
    datetime: 'Enter a date and time.',
    time: 'Enter a time.',
    duration: 'Enter a duration: 4h, 1d 30m or PT4H.',
    choice: 'Choose a value from the list.',
    reference: 'Choose a value from the list.',
    json: 'Enter valid JSON.',
  },
);

/** The name of a data type; unknown ones are shown as written. */
export function dataTypeName(words: Readonly<Record<string, string>>, dataType: string): string {
  return Object.hasOwn(words, dataType) ? (words[dataType] ?? dataType) : dataType;
}

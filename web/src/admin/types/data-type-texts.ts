import type { DataType } from '../../api/types.ts';
import { defineText } from '../../i18n/text.ts';

/** Names of data types. */
export const dataTypeTexts = defineText(
  {
    string: 'Строка',
    text: 'Текст',
    'rich-text': 'Текст с оформлением',
    integer: 'Целое число',
    decimal: 'Дробное число',
    boolean: 'Да или нет',
    date: 'Дата',
    datetime: 'Дата и время',
    time: 'Время',
    duration: 'Длительность',
    enum: 'Вариант из списка',
    reference: 'Ссылка на запись',
    user: 'Человек',
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
    user: 'Person',
    group: 'Group',
    'org-unit': 'Unit',
    service: 'Service',
    email: 'E-mail address',
    phone: 'Telephone',
    url: 'Web address',
    json: 'JSON',
  },
);

/** The name of a data type; unknown ones are shown as written. */
export function dataTypeName(words: Readonly<Record<string, string>>, dataType: string): string {
  return Object.hasOwn(words, dataType) ? (words[dataType] ?? dataType) : dataType;
}

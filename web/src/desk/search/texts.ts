import { defineText, plural, pluralEn } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Поиск',
    words: 'Что искать: слова, номер, целый вопрос…',
    go: 'Найти',
    type: 'Вид записей',
    anyType: 'Любой вид',
    hint: 'Введите хотя бы две буквы или цифры, или задайте условие.',
    nothing: 'Ничего не нашлось',
    found: (n: number, exact: boolean) =>
      exact
        ? `${plural(n, 'Найдена', 'Найдено', 'Найдено')} ${n} ${plural(n, 'запись', 'записи', 'записей')}`
        : `Найдено больше ${n}`,
    more: 'Показать ещё',
    kinds: 'Где искать',
    object: 'Записи',
    comment: 'Комментарии',
    article: 'Статьи',
    service: 'Услуги',
    user: 'Люди',
    group: 'Группы',
    'org-unit': 'Подразделения',
    untitled: 'Без названия',
    narrowBy: 'Уточнить',
  },
  {
    title: 'Search',
    words: 'What to find: words, a number, a whole question…',
    go: 'Find',
    type: 'Record type',
    anyType: 'Any type',
    hint: 'Type at least two letters or digits, or set a condition.',
    nothing: 'Nothing found',
    found: (n: number, exact: boolean) =>
      exact ? `${n} ${pluralEn(n, 'result', 'results')}` : `More than ${n} results`,
    more: 'Show more',
    kinds: 'Where to look',
    object: 'Records',
    comment: 'Comments',
    article: 'Articles',
    service: 'Services',
    user: 'People',
    group: 'Groups',
    'org-unit': 'Units',
    untitled: 'Untitled',
    narrowBy: 'Narrow down',
  },
);

import { defineText, plural, pluralEn } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Поиск',
    words: 'Слова, номер или вопрос…',
    go: 'Найти',
    type: 'Тип записи',
    anyType: 'Любой тип',
    hint: 'Введите хотя бы две буквы или цифры, или задайте условие.',
    nothing: 'Ничего не найдено',
    found: (n: number, exact: boolean) =>
      exact
        ? `${plural(n, 'Найден', 'Найдено', 'Найдено')} ${n} ${plural(n, 'результат', 'результата', 'результатов')}`
        : `Найдено больше ${n} ${plural(n, 'результата', 'результатов', 'результатов')}`,
    more: 'Показать ещё',
    kinds: 'Область поиска',
    object: 'Записи',
    comment: 'Комментарии',
    article: 'Статьи',
    service: 'Услуги',
    user: 'Пользователи',
    group: 'Группы',
    'org-unit': 'Подразделения',
    untitled: 'Без названия',
    narrowBy: 'Уточнить',
  },
  {
    title: 'Search',
    words: 'Words, a number or a question…',
    go: 'Find',
    type: 'Record type',
    anyType: 'Any type',
    hint: 'Type at least two letters or digits, or set a condition.',
    nothing: 'Nothing found',
    found: (n: number, exact: boolean) =>
      exact ? `${n} ${pluralEn(n, 'result', 'results')}` : `More than ${n} results`,
    more: 'Show more',
    kinds: 'Search in',
    object: 'Records',
    comment: 'Comments',
    article: 'Articles',
    service: 'Services',
    user: 'Users',
    group: 'Groups',
    'org-unit': 'Units',
    untitled: 'Untitled',
    narrowBy: 'Narrow down',
  },
);

import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Экспорт',
    hint: 'Записи одного типа с кодами полей и идентификаторами, для импорта и программ: все доступные вам поля, кроме архива, сначала новые. Список с названиями выгружает кнопка «Экспорт» над списком записей.',
    type: 'Тип записи',
    format: 'Формат',
    limit: 'Максимум строк',
    words: 'Поиск',
    wordsHint: 'Как поиск в списке записей',
    condition: 'Условие',
    run: 'Скачать файл',
    done: (name: string) => `Готов файл ${name}`,
    working: 'Файл готовится',
  },
  {
    title: 'Export',
    hint: 'Records of one type with field codes and ids, for imports and programs: all active records and fields available to you, newest first. The button “Export” above a list writes the list with names.',
    type: 'Record type',
    format: 'Format',
    limit: 'Maximum rows',
    words: 'Search',
    wordsHint: 'Same as search in the record list',
    condition: 'Condition',
    run: 'Download file',
    done: (name: string) => `The file ${name} is ready`,
    working: 'Preparing the file',
  },
);

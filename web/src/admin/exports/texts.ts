import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Экспорт',
    hint: 'Файл содержит доступные вам записи и поля (кроме архива), сначала новые.',
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
    hint: 'The file contains the active records and fields available to you, newest first.',
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

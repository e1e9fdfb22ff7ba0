import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Экспорт',
    hint: 'В файл попадают действующие записи и поля, которые вам видны, новые первыми.',
    type: 'Тип записей',
    format: 'Формат',
    limit: 'Не больше строк',
    words: 'Слова',
    wordsHint: 'Как в списке записей',
    condition: 'Условие',
    run: 'Скачать файл',
    done: (name: string) => `Готов файл ${name}`,
    working: 'Файл собирается',
  },
  {
    title: 'Export',
    hint: 'The file holds active records and the fields that you may see, the newest first.',
    type: 'Record type',
    format: 'Format',
    limit: 'Rows at most',
    words: 'Words',
    wordsHint: 'As in the list of records',
    condition: 'Condition',
    run: 'Download the file',
    done: (name: string) => `The file ${name} is ready`,
    working: 'The file is being made',
  },
);

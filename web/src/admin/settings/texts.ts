import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Настройки',
    hint: 'Настройки действуют для всех сразу после применения.',
    defaultLocale: 'Язык по умолчанию',
    timezone: 'Часовой пояс',
    attachmentMaxBytes: 'Максимальный размер вложения, байт',
    searchExactTotal: 'Точное число результатов поиска до',
  },
  {
    title: 'Settings',
    hint: 'Settings take effect for everyone when they are applied.',
    defaultLocale: 'Default language',
    timezone: 'Time zone',
    attachmentMaxBytes: 'Maximum attachment size, bytes',
    searchExactTotal: 'Exact number of search results up to',
  },
);

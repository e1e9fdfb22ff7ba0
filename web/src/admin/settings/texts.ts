import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Параметры',
    hint: 'Действуют для всех сразу после применения.',
    defaultLocale: 'Язык по умолчанию',
    timezone: 'Часовой пояс',
    attachmentMaxBytes: 'Наибольший файл, байт',
    searchExactTotal: 'До скольких находок считать точно',
  },
  {
    title: 'Settings',
    hint: 'They hold for everybody as soon as they are applied.',
    defaultLocale: 'Default language',
    timezone: 'Time zone',
    attachmentMaxBytes: 'Largest file, bytes',
    searchExactTotal: 'Count hits exactly up to',
  },
);

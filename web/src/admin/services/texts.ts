import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Услуги',
    hint: 'Услуга показывается в каталоге, поиске и полях записей тем, кому она доступна.',
    create: 'Новая услуга',
  },
  {
    title: 'Services',
    hint: 'A service is shown in the catalog, in search and in record fields to those to whom it is available.',
    create: 'New service',
  },
);

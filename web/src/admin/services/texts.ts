import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Услуги',
    hint: 'Услуга показывается в каталоге, поиске и полях записей тем, кому она доступна.',
    create: 'Новая услуга',
    empty: 'Услуг пока нет. Создайте первую, чтобы использовать её в каталоге.',
  },
  {
    title: 'Services',
    hint: 'A service is shown in the catalog, in search and in record fields to those to whom it is available.',
    create: 'New service',
    empty: 'No services yet. Create one to use it in the catalog.',
  },
);

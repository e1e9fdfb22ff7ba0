import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Услуги',
    hint: 'Услугу видят те, кому она доступна: в каталоге, в поиске и в полях записей.',
    create: 'Новая услуга',
    empty: 'Услуг пока нет. Создайте первую, чтобы собрать из них каталог.',
  },
  {
    title: 'Services',
    hint: 'A service is seen by those to whom it is available: in the catalogue, in search and in fields of records.',
    create: 'New service',
    empty: 'There are no services yet. Create the first one to make a catalogue of them.',
  },
);

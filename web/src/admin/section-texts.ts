import { defineText } from '../i18n/text.ts';

/** Section headings of the administration's navigation. */
export const sectionTexts = defineText(
  {
    model: 'Записи и процессы',
    people: 'Люди и права',
    service: 'Услуги и сроки',
    connections: 'Связи с другими системами',
    knowledge: 'Знания',
    operation: 'Работа сервиса',
  },
  {
    model: 'Records and workflows',
    people: 'People and rights',
    service: 'Services and time limits',
    connections: 'Connections',
    knowledge: 'Knowledge',
    operation: 'Operation',
  },
);

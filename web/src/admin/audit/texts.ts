import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Журнал изменений',
    hint: 'Настройки, ключи, права, люди и входы. Записи здесь только добавляются.',
    at: 'Когда',
    who: 'Кто',
    what: 'Что',
    subject: 'С чем',
    via: 'Откуда',
    details: 'Подробности',
    more: 'Показать раньше',
    kind: 'Вид события',
    anyKind: 'Любой вид',
    about: 'С чем: roles:agent',
    system: 'Сервис',
  },
  {
    title: 'Audit log',
    hint: 'Configuration, keys, rights, people and sign-ins. Entries are only ever added.',
    at: 'When',
    who: 'Who',
    what: 'What',
    subject: 'About',
    via: 'From',
    details: 'Details',
    more: 'Show earlier ones',
    kind: 'Kind of event',
    anyKind: 'Any kind',
    about: 'About: roles:agent',
    system: 'The service',
  },
);

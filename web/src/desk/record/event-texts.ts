import { eventTexts as events } from '../../i18n/event-texts.ts';
import { defineText } from '../../i18n/text.ts';

/** Texts of the history: events, changed properties and sources. */
export const eventTexts = defineText(
  {
    ...events['ru-RU'],
    workflowState: 'Состояние',
    state: 'Архив',
    archivedState: 'в архиве',
    activeState: 'в работе',
    system: 'Сервис',
    api: 'API',
    console: 'консоль',
    import: 'импорт',
    bulk: 'массовое изменение',
    inbound: 'интеграцию',
    catalog: 'каталог',
  },
  {
    ...events['en-US'],
    workflowState: 'State',
    state: 'Archive',
    archivedState: 'archived',
    activeState: 'active',
    system: 'The service',
    api: 'the API',
    console: 'the console',
    import: 'an import',
    bulk: 'a bulk action',
    inbound: 'an integration',
    catalog: 'the catalog',
  },
);

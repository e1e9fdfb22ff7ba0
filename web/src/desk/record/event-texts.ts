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
    system: 'Система',
    api: 'API',
    console: 'консоль',
    import: 'импорт',
    bulk: 'массовое изменение',
    inbound: 'интеграцию',
    catalog: 'каталог',
    rule: 'правило',
    mail: 'почту',
  },
  {
    ...events['en-US'],
    workflowState: 'State',
    state: 'Archive',
    archivedState: 'archived',
    activeState: 'active',
    system: 'System',
    api: 'the API',
    console: 'the console',
    import: 'an import',
    bulk: 'a bulk action',
    inbound: 'an integration',
    catalog: 'the catalog',
    rule: 'a rule',
    mail: 'email',
  },
);

/** Texts of the comparison with an earlier version. */
export const revisionTexts = defineText(
  {
    compareVersions: 'Сравнить версии',
    version: 'Версия записи',
    versionNumber: (n: number) => `Версия ${n}`,
    versionOf: (n: number, last: number) => `Версия ${n} из ${last}`,
    changedField: 'Поле',
    nowValue: 'Сейчас',
    noDifferences: 'Эта версия не отличается от нынешней.',
    bringBack: 'Вернуть выбранные значения',
    broughtBack: 'Значения подставлены в форму. Проверьте и сохраните.',
    imagesLeftOut: (n: number) => `Изображений, которых больше нет в записи: ${n}. Они не возвращены.`,
  },
  {
    compareVersions: 'Compare versions',
    version: 'Version of the record',
    versionNumber: (n: number) => `Version ${n}`,
    versionOf: (n: number, last: number) => `Version ${n} of ${last}`,
    changedField: 'Field',
    nowValue: 'Now',
    noDifferences: 'This version does not differ from the current one.',
    bringBack: 'Restore selected values',
    broughtBack: 'The values are in the form. Check and save them.',
    imagesLeftOut: (n: number) => `Images that are no longer in the record: ${n}. They were left out.`,
  },
);

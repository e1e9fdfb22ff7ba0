/** Descriptions of key scopes (docs/spec/access.md#api-keys), in display order. */
import type { ADMIN_SCOPE, Scope } from '../../../../src/contract/scopes.ts';
import { type Bilingual, both } from '../../i18n/text.ts';

type ScopeKind = 'reading' | 'writing' | 'admin';

const described = (kind: ScopeKind, ru: string, en: string): { kind: ScopeKind; words: Bilingual } => ({
  kind,
  words: both(ru, en),
});

const DESCRIPTIONS: Readonly<Record<Scope | typeof ADMIN_SCOPE, ReturnType<typeof described>>> = {
  'metadata:read': described('reading', 'Просмотр типов записей и полей', 'View record types and fields'),
  'objects:read': described('reading', 'Просмотр записей и истории', 'View records and their history'),
  'files:read': described('reading', 'Скачивание вложений', 'Download attachments'),
  'comments:read': described('reading', 'Просмотр комментариев', 'View comments'),
  'search:read': described('reading', 'Поиск', 'Search'),
  'relations:read': described('reading', 'Просмотр связей', 'View relations'),
  'sla:read': described('reading', 'Просмотр SLA', 'View SLA'),
  'workflow:read': described('reading', 'Просмотр состояний и переходов', 'View states and transitions'),
  'catalog:read': described('reading', 'Просмотр каталога услуг', 'View the service catalog'),
  'identity:read': described(
    'reading',
    'Просмотр пользователей, групп и подразделений',
    'View users, groups and units',
  ),
  'kb:read': described('reading', 'Просмотр базы знаний', 'View knowledge base'),
  'imports:read': described('reading', 'Просмотр импорта', 'View imports'),
  'exports:read': described('reading', 'Экспорт записей', 'Export records'),
  'objects:write': described('writing', 'Создание и изменение записей', 'Create and change records'),
  'files:write': described('writing', 'Добавление и удаление вложений', 'Add and remove attachments'),
  'comments:write': described('writing', 'Добавление комментариев', 'Add comments'),
  'relations:write': described('writing', 'Создание связей', 'Create relations'),
  'sla:write': described('writing', 'Управление таймерами SLA', 'Control SLA timers'),
  'workflow:write': described('writing', 'Выполнение переходов', 'Run transitions'),
  'catalog:impersonate': described('writing', 'Заказ услуг за других', 'Request services for others'),
  'webhooks:manage': described('writing', 'Настройка вебхуков', 'Manage webhooks'),
  'integrations:manage': described('writing', 'Настройка интеграций', 'Manage integrations'),
  'integrations:execute': described('writing', 'Отправка данных в интеграции', 'Send data to integrations'),
  'identity:write': described(
    'writing',
    'Изменение пользователей, групп и подразделений',
    'Change users, groups and units',
  ),
  'kb:write': described('writing', 'Создание статей', 'Write articles'),
  'imports:write': described('writing', 'Запуск импорта', 'Run imports'),
  'admin:manage': described('admin', 'Все функции администрирования', 'All administration functions'),
};

export const SCOPES = Object.entries(DESCRIPTIONS).map(([scope, description]) => ({ scope, ...description }));

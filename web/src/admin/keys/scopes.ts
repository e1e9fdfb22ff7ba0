/** Descriptions of key scopes (docs/spec/access.md#api-keys). */
import { type Bilingual, both } from '../../i18n/text.ts';

export type ScopeKind = 'reading' | 'writing' | 'admin';

export interface ScopeInfo {
  scope: string;
  kind: ScopeKind;
  words: Bilingual;
}

const one = (scope: string, kind: ScopeKind, ru: string, en: string): ScopeInfo => ({
  scope,
  kind,
  words: both(ru, en),
});

export const SCOPES: readonly ScopeInfo[] = [
  one('metadata:read', 'reading', 'Узнавать виды записей и поля', 'Learn types and fields'),
  one('objects:read', 'reading', 'Читать записи и историю', 'Read records and their history'),
  one('files:read', 'reading', 'Скачивать файлы', 'Download files'),
  one('comments:read', 'reading', 'Читать комментарии', 'Read comments'),
  one('search:read', 'reading', 'Искать', 'Search'),
  one('relations:read', 'reading', 'Видеть связи', 'See relations'),
  one('sla:read', 'reading', 'Видеть сроки (SLA)', 'See time limits (SLA)'),
  one('workflow:read', 'reading', 'Видеть состояния и переходы', 'See states and transitions'),
  one('catalog:read', 'reading', 'Видеть каталог услуг', 'See the service catalogue'),
  one('identity:read', 'reading', 'Видеть людей, группы и подразделения', 'See people, groups and units'),
  one('kb:read', 'reading', 'Читать базу знаний', 'Read the knowledge base'),
  one('imports:read', 'reading', 'Видеть импорты', 'See imports'),
  one('exports:read', 'reading', 'Выгружать записи', 'Export records'),
  one('objects:write', 'writing', 'Создавать и менять записи', 'Create and change records'),
  one('files:write', 'writing', 'Прикладывать и убирать файлы', 'Attach and remove files'),
  one('comments:write', 'writing', 'Писать комментарии', 'Write comments'),
  one('relations:write', 'writing', 'Связывать записи', 'Relate records'),
  one('sla:write', 'writing', 'Управлять таймерами SLA', 'Control SLA timers'),
  one('workflow:write', 'writing', 'Переводить записи между состояниями', 'Carry out transitions'),
  one('catalog:impersonate', 'writing', 'Заказывать услуги за других', 'Request services for others'),
  one('webhooks:manage', 'writing', 'Настраивать вебхуки', 'Manage webhooks'),
  one('integrations:manage', 'writing', 'Настраивать интеграции', 'Manage integrations'),
  one('integrations:execute', 'writing', 'Присылать данные в интеграции', 'Send data to integrations'),
  one('identity:write', 'writing', 'Менять людей, группы и подразделения', 'Change people, groups and units'),
  one('kb:write', 'writing', 'Писать в базу знаний', 'Write the knowledge base'),
  one('imports:write', 'writing', 'Запускать импорт', 'Run imports'),
  one('admin:manage', 'admin', 'Всё, что умеет эта консоль', 'All that this console can do'),
];

/** Descriptions of key scopes (docs/spec/access.md#api-keys), in display order. */
import type { ADMIN_SCOPE, Scope } from '../../../../src/contract/scopes.ts';
import { type Bilingual, both } from '../../i18n/text.ts';

type ScopeKind = 'reading' | 'writing' | 'admin';

const described = (kind: ScopeKind, ru: string, en: string): { kind: ScopeKind; words: Bilingual } => ({
  kind,
  words: both(ru, en),
});

const DESCRIPTIONS: Readonly<Record<Scope | typeof ADMIN_SCOPE, ReturnType<typeof described>>> = {
  'metadata:read': described('reading', 'Узнавать виды записей и поля', 'Learn types and fields'),
  'objects:read': described('reading', 'Читать записи и историю', 'Read records and their history'),
  'files:read': described('reading', 'Скачивать файлы', 'Download files'),
  'comments:read': described('reading', 'Читать комментарии', 'Read comments'),
  'search:read': described('reading', 'Искать', 'Search'),
  'relations:read': described('reading', 'Видеть связи', 'See relations'),
  'sla:read': described('reading', 'Видеть сроки (SLA)', 'See time limits (SLA)'),
  'workflow:read': described('reading', 'Видеть состояния и переходы', 'See states and transitions'),
  'catalog:read': described('reading', 'Видеть каталог услуг', 'See the service catalogue'),
  'identity:read': described('reading', 'Видеть людей, группы и подразделения', 'See people, groups and units'),
  'kb:read': described('reading', 'Читать базу знаний', 'Read the knowledge base'),
  'imports:read': described('reading', 'Видеть импорты', 'See imports'),
  'exports:read': described('reading', 'Выгружать записи', 'Export records'),
  'objects:write': described('writing', 'Создавать и менять записи', 'Create and change records'),
  'files:write': described('writing', 'Прикладывать и убирать файлы', 'Attach and remove files'),
  'comments:write': described('writing', 'Писать комментарии', 'Write comments'),
  'relations:write': described('writing', 'Связывать записи', 'Relate records'),
  'sla:write': described('writing', 'Управлять таймерами SLA', 'Control SLA timers'),
  'workflow:write': described('writing', 'Переводить записи между состояниями', 'Carry out transitions'),
  'catalog:impersonate': described('writing', 'Заказывать услуги за других', 'Request services for others'),
  'webhooks:manage': described('writing', 'Настраивать вебхуки', 'Manage webhooks'),
  'integrations:manage': described('writing', 'Настраивать интеграции', 'Manage integrations'),
  'integrations:execute': described('writing', 'Присылать данные в интеграции', 'Send data to integrations'),
  'identity:write': described('writing', 'Менять людей, группы и подразделения', 'Change people, groups and units'),
  'kb:write': described('writing', 'Писать в базу знаний', 'Write the knowledge base'),
  'imports:write': described('writing', 'Запускать импорт', 'Run imports'),
  'admin:manage': described('admin', 'Всё, что умеет эта консоль', 'All that this console can do'),
};

export const SCOPES = Object.entries(DESCRIPTIONS).map(([scope, description]) => ({ scope, ...description }));

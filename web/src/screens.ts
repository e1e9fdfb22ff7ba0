/** The screens of `/admin/` and `/work/`, in the order of the navigation. Pages are loaded on the first visit. */
import {
  IconAdjustments,
  IconArrowsSplit,
  IconBook2,
  IconBooks,
  IconBuilding,
  IconCalendarTime,
  IconFileDiff,
  IconFileExport,
  IconFileImport,
  IconForms,
  IconHeartbeat,
  IconHistory,
  IconHourglass,
  IconKey,
  IconLifebuoy,
  IconLink,
  IconPlugConnected,
  IconShieldLock,
  IconShoppingBag,
  IconUsers,
  IconUsersGroup,
  IconWebhook,
  type Icon,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { ARTICLE_READING_RIGHTS, type GlobalRight } from '../../src/contract/rights.ts';
import { type Bilingual, both } from './i18n/text.ts';
import type { ScreenProps } from './ui/page.tsx';

/** Sections of the administration's navigation, in order. */
export const SECTIONS = ['model', 'people', 'service', 'connections', 'knowledge', 'operation'] as const;
type Section = (typeof SECTIONS)[number];

interface Screen {
  /** First path segment below `/admin/` or `/work/`. */
  path: string;
  title: Bilingual;
  icon: Icon;
  /** Shown to users with one of these rights; undefined: to all users. The service checks rights itself. */
  rights?: readonly GlobalRight[];
  load: () => Promise<{ default: ComponentType<ScreenProps> }>;
}

interface AdminScreen extends Screen {
  section: Section;
  /** One line for the overview page. */
  summary: Bilingual;
}

export const adminScreens: readonly AdminScreen[] = [
  {
    path: 'types',
    section: 'model',
    title: both('Типы записей и поля', 'Record types and fields'),
    summary: both('Поля, ограничения, форма', 'Fields, constraints, form'),
    icon: IconForms,
    rights: ['config.manage'],
    load: () => import('./admin/types/page.tsx'),
  },
  {
    path: 'workflows',
    section: 'model',
    title: both('Процессы', 'Workflows'),
    summary: both('Состояния и переходы между ними', 'States and transitions'),
    icon: IconArrowsSplit,
    rights: ['config.manage'],
    load: () => import('./admin/workflows/page.tsx'),
  },
  {
    path: 'relations',
    section: 'model',
    title: both('Типы связей', 'Relation types'),
    summary: both('Какие записи можно связать', 'Which records can be related'),
    icon: IconLink,
    rights: ['config.manage'],
    load: () => import('./admin/relations/page.tsx'),
  },
  {
    path: 'people',
    section: 'people',
    title: both('Пользователи', 'Users'),
    summary: both('Учётные записи, группы и подразделения', 'Accounts, groups and units'),
    icon: IconUsers,
    rights: ['user.administer'],
    load: () => import('./admin/users/page.tsx'),
  },
  {
    path: 'groups',
    section: 'people',
    title: both('Группы', 'Groups'),
    summary: both('Группы пользователей, в том числе вложенные', 'Groups of users, including nested groups'),
    icon: IconUsersGroup,
    rights: ['user.administer'],
    load: () => import('./admin/groups/page.tsx'),
  },
  {
    path: 'units',
    section: 'people',
    title: both('Подразделения', 'Organization units'),
    summary: both('Структура организации', 'Structure of the organization'),
    icon: IconBuilding,
    rights: ['user.administer'],
    load: () => import('./admin/units/page.tsx'),
  },
  {
    path: 'roles',
    section: 'people',
    title: both('Роли и права', 'Roles and permissions'),
    summary: both('Права на просмотр и изменение', 'Permissions to view and change'),
    icon: IconShieldLock,
    rights: ['role.assign'],
    load: () => import('./admin/roles/page.tsx'),
  },
  {
    path: 'services',
    section: 'service',
    title: both('Услуги', 'Services'),
    summary: both('Услуги и их доступность', 'Services and their availability'),
    icon: IconLifebuoy,
    rights: ['config.manage'],
    load: () => import('./admin/services/page.tsx'),
  },
  {
    path: 'catalogs',
    section: 'service',
    title: both('Каталог услуг', 'Service catalog'),
    summary: both('Категории, позиции и их формы', 'Categories, items and their forms'),
    icon: IconShoppingBag,
    rights: ['config.manage'],
    load: () => import('./admin/catalogues/page.tsx'),
  },
  {
    path: 'calendars',
    section: 'service',
    title: both('Календари', 'Calendars'),
    summary: both('Рабочие часы и особые дни', 'Working hours and special days'),
    icon: IconCalendarTime,
    rights: ['config.manage'],
    load: () => import('./admin/calendars/page.tsx'),
  },
  {
    path: 'sla',
    section: 'service',
    title: both('SLA', 'SLA'),
    summary: both('Политики SLA и их проверка', 'SLA policies and their test'),
    icon: IconHourglass,
    rights: ['config.manage'],
    load: () => import('./admin/sla/page.tsx'),
  },
  {
    path: 'keys',
    section: 'connections',
    title: both('Ключи API', 'API keys'),
    summary: both('Доступ к API: владельцы и области доступа', 'API access: owners and scopes'),
    icon: IconKey,
    rights: ['key.manage'],
    load: () => import('./admin/keys/page.tsx'),
  },
  {
    path: 'webhooks',
    section: 'connections',
    title: both('Вебхуки', 'Webhooks'),
    summary: both(
      'Подписки на события, доставки и секреты подписи',
      'Event subscriptions, deliveries, signing secrets',
    ),
    icon: IconWebhook,
    rights: ['webhook.manage'],
    load: () => import('./admin/webhooks/page.tsx'),
  },
  {
    path: 'integrations',
    section: 'connections',
    title: both('Интеграции', 'Integrations'),
    summary: both('Входящие вызовы: сопоставление, проверка, журнал', 'Inbound calls: mapping, test, log'),
    icon: IconPlugConnected,
    rights: ['integration.manage'],
    load: () => import('./admin/integrations/page.tsx'),
  },
  {
    path: 'imports',
    section: 'connections',
    title: both('Импорт', 'Imports'),
    summary: both(
      'Записи, пользователи и группы из файлов: проверка, импорт, отмена',
      'Records, users and groups from files: check, import, undo',
    ),
    icon: IconFileImport,
    rights: ['import.manage'],
    load: () => import('./admin/imports/page.tsx'),
  },
  {
    path: 'exports',
    section: 'connections',
    title: both('Экспорт', 'Export'),
    summary: both('Записи одного типа файлом CSV или JSON', 'Records of a type as a CSV or JSON file'),
    icon: IconFileExport,
    rights: ['export.execute'],
    load: () => import('./admin/exports/page.tsx'),
  },
  {
    path: 'bases',
    section: 'knowledge',
    title: both('Базы знаний', 'Knowledge bases'),
    summary: both('Разделы, языки и видимость', 'Sections, languages and visibility'),
    icon: IconBooks,
    rights: ['config.manage'],
    load: () => import('./admin/knowledge-bases/page.tsx'),
  },
  {
    path: 'audit',
    section: 'operation',
    title: both('Журнал изменений', 'Audit log'),
    summary: both('Изменения конфигурации, ключей и прав', 'Changes of configuration, keys and rights'),
    icon: IconHistory,
    rights: ['audit.read'],
    load: () => import('./admin/audit/page.tsx'),
  },
  {
    path: 'health',
    section: 'operation',
    title: both('Состояние сервиса', 'Service status'),
    summary: both('Готовность, компоненты, нагрузка', 'Readiness, components, load'),
    icon: IconHeartbeat,
    rights: ['config.manage', 'audit.read'],
    load: () => import('./admin/health/page.tsx'),
  },
  {
    path: 'configuration',
    section: 'operation',
    title: both('Вся конфигурация', 'Full configuration'),
    summary: both('Сравнение, применение и экспорт файлов', 'Compare, apply and export files'),
    icon: IconFileDiff,
    rights: ['config.manage'],
    load: () => import('./admin/configuration/page.tsx'),
  },
  {
    path: 'settings',
    section: 'operation',
    title: both('Настройки', 'Settings'),
    summary: both('Язык, часовой пояс, ограничения', 'Language, time zone and limits'),
    icon: IconAdjustments,
    rights: ['config.manage'],
    load: () => import('./admin/settings/page.tsx'),
  },
];

export const workScreens: readonly Screen[] = [
  {
    path: 'catalogue',
    title: both('Каталог услуг', 'Service catalog'),
    icon: IconShoppingBag,
    load: () => import('./work/catalogue/page.tsx'),
  },
  {
    path: 'knowledge',
    title: both('База знаний', 'Knowledge base'),
    icon: IconBook2,
    rights: [...ARTICLE_READING_RIGHTS, 'kb.write'],
    load: () => import('./work/knowledge/page.tsx'),
  },
];

/** The screens available to a user with these rights. */
export function offered<S extends Screen>(screens: readonly S[], has: (right: GlobalRight) => boolean): readonly S[] {
  return screens.filter(({ rights }) => rights === undefined || rights.some(has));
}

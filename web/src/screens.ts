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
import type { GlobalRight } from '../../src/contract/rights.ts';
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
    title: both('Виды записей и поля', 'Types and fields'),
    summary: both('Что хранится: поля, ограничения, вид формы', 'What is stored: fields, constraints, the form'),
    icon: IconForms,
    rights: ['config.manage'],
    load: () => import('./admin/types/page.tsx'),
  },
  {
    path: 'workflows',
    section: 'model',
    title: both('Процессы', 'Workflows'),
    summary: both('Состояния и переходы между ними', 'States and the transitions between them'),
    icon: IconArrowsSplit,
    rights: ['config.manage'],
    load: () => import('./admin/workflows/page.tsx'),
  },
  {
    path: 'relations',
    section: 'model',
    title: both('Виды связей', 'Relation definitions'),
    summary: both('Что с чем можно связать и как', 'What can be related to what, and how'),
    icon: IconLink,
    rights: ['config.manage'],
    load: () => import('./admin/relations/page.tsx'),
  },
  {
    path: 'people',
    section: 'people',
    title: both('Люди', 'People'),
    summary: both(
      'Кто есть в сервисе, в каких группах и подразделениях',
      'Who is in the service, in which groups and units',
    ),
    icon: IconUsers,
    rights: ['user.administer'],
    load: () => import('./admin/people/page.tsx'),
  },
  {
    path: 'groups',
    section: 'people',
    title: both('Группы', 'Groups'),
    summary: both('Группы людей и группы в группах', 'Groups of people, and groups in groups'),
    icon: IconUsersGroup,
    rights: ['user.administer'],
    load: () => import('./admin/groups/page.tsx'),
  },
  {
    path: 'units',
    section: 'people',
    title: both('Подразделения', 'Organisation units'),
    summary: both('Дерево организации', 'The tree of the organisation'),
    icon: IconBuilding,
    rights: ['user.administer'],
    load: () => import('./admin/units/page.tsx'),
  },
  {
    path: 'roles',
    section: 'people',
    title: both('Роли и права', 'Roles and rights'),
    summary: both('Кто что видит и меняет, и почему', 'Who sees and changes what, and why'),
    icon: IconShieldLock,
    rights: ['role.assign'],
    load: () => import('./admin/roles/page.tsx'),
  },
  {
    path: 'services',
    section: 'service',
    title: both('Услуги', 'Services'),
    summary: both('Что предлагается и кому', 'What is offered, and to whom'),
    icon: IconLifebuoy,
    rights: ['config.manage'],
    load: () => import('./admin/services/page.tsx'),
  },
  {
    path: 'catalogs',
    section: 'service',
    title: both('Каталог услуг', 'Catalogue'),
    summary: both('Категории, позиции и их формы', 'Categories, items and their forms'),
    icon: IconShoppingBag,
    rights: ['config.manage'],
    load: () => import('./admin/catalogs/page.tsx'),
  },
  {
    path: 'calendars',
    section: 'service',
    title: both('Календари', 'Calendars'),
    summary: both(
      'Рабочие часы и особые дни, год на одном листе',
      'Opening hours and special days, a year on one sheet',
    ),
    icon: IconCalendarTime,
    rights: ['config.manage'],
    load: () => import('./admin/calendars/page.tsx'),
  },
  {
    path: 'sla',
    section: 'service',
    title: both('Сроки (SLA)', 'Time limits (SLA)'),
    summary: both('Сколько времени на что даётся, с пробой', 'How long what may take, with a try-out'),
    icon: IconHourglass,
    rights: ['config.manage'],
    load: () => import('./admin/sla/page.tsx'),
  },
  {
    path: 'keys',
    section: 'connections',
    title: both('Ключи API', 'API keys'),
    summary: both('Кто и с какими возможностями обращается к сервису', 'Who calls the service, and what they may do'),
    icon: IconKey,
    rights: ['key.manage'],
    load: () => import('./admin/keys/page.tsx'),
  },
  {
    path: 'webhooks',
    section: 'connections',
    title: both('Вебхуки', 'Webhooks'),
    summary: both(
      'Кому сообщать о событиях, доставки и секреты подписи',
      'Who is told of events, deliveries, signing secrets',
    ),
    icon: IconWebhook,
    rights: ['webhook.manage'],
    load: () => import('./admin/webhooks/page.tsx'),
  },
  {
    path: 'integrations',
    section: 'connections',
    title: both('Интеграции', 'Integrations'),
    summary: both('Вызовы извне: сопоставление, проба, журнал', 'Calls from outside: mapping, try-out, log'),
    icon: IconPlugConnected,
    rights: ['integration.manage'],
    load: () => import('./admin/integrations/page.tsx'),
  },
  {
    path: 'imports',
    section: 'connections',
    title: both('Импорт', 'Imports'),
    summary: both(
      'Записи, люди и группы из файлов: проверка, загрузка, отмена',
      'Records, people and groups from files: try, run, undo',
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
    load: () => import('./admin/bases/page.tsx'),
  },
  {
    path: 'audit',
    section: 'operation',
    title: both('Журнал изменений', 'Audit log'),
    summary: both('Кто что менял в настройках, ключах и правах', 'Who changed what in configuration, keys and rights'),
    icon: IconHistory,
    rights: ['audit.read'],
    load: () => import('./admin/audit/page.tsx'),
  },
  {
    path: 'health',
    section: 'operation',
    title: both('Здоровье сервиса', 'Health'),
    summary: both('Готовность, части сервиса, нагрузка', 'Readiness, parts of the service, load'),
    icon: IconHeartbeat,
    rights: ['config.manage', 'audit.read'],
    load: () => import('./admin/health/page.tsx'),
  },
  {
    path: 'configuration',
    section: 'operation',
    title: both('Конфигурация целиком', 'Whole configuration'),
    summary: both('Сравнить, применить и выгрузить файлы', 'Compare, apply and export files'),
    icon: IconFileDiff,
    rights: ['config.manage'],
    load: () => import('./admin/configuration/page.tsx'),
  },
  {
    path: 'settings',
    section: 'operation',
    title: both('Параметры', 'Settings'),
    summary: both('Язык, часовой пояс и пределы', 'Language, time zone and limits'),
    icon: IconAdjustments,
    rights: ['config.manage'],
    load: () => import('./admin/settings/page.tsx'),
  },
];

export const workScreens: readonly Screen[] = [
  {
    path: 'catalogue',
    title: both('Каталог услуг', 'Catalogue'),
    icon: IconShoppingBag,
    load: () => import('./work/catalogue/page.tsx'),
  },
  {
    path: 'knowledge',
    title: both('База знаний', 'Knowledge base'),
    icon: IconBook2,
    rights: ['kb.read', 'kb.write'],
    load: () => import('./work/knowledge/page.tsx'),
  },
];

/** The screens available to a user with these rights. */
export function offered<S extends Screen>(screens: readonly S[], has: (right: GlobalRight) => boolean): readonly S[] {
  return screens.filter(({ rights }) => rights === undefined || rights.some(has));
}

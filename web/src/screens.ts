/** The screens of `/work/`, in the order of the navigation, and who sees the administration. Pages are loaded on the first visit. */
import { IconBook2, IconChartBar, IconFileExport, IconShoppingBag, type Icon } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { ARTICLE_READING_RIGHTS, type GlobalRight } from '../../src/contract/rights.ts';
import { type Bilingual, both } from './i18n/text.ts';
import type { ScreenProps } from './ui/page.tsx';

export interface Screen {
  /** First path segment below `/admin/` or `/work/`. */
  path: string;
  title: Bilingual;
  icon: Icon;
  /** Shown to users with one of these rights; undefined: to all users. The service checks rights itself. */
  rights?: readonly GlobalRight[];
  load: () => Promise<{ default: ComponentType<ScreenProps> }>;
}

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
  {
    path: 'dashboards',
    title: both('Панели показателей', 'Dashboards'),
    icon: IconChartBar,
    load: () => import('./work/dashboards/page.tsx'),
  },
  {
    path: 'exports',
    title: both('Экспорт', 'Export'),
    icon: IconFileExport,
    rights: ['export.execute'],
    load: () => import('./work/exports/page.tsx'),
  },
];

/**
 * The rights of which one is enough to see a screen of the administration. `admin/screens.ts` is not part of the first load, so
 * the navigation decides by this list. The compiler checks that no screen asks for another right.
 */
export const ADMINISTRATION_RIGHTS = [
  'audit.read',
  'config.manage',
  'import.manage',
  'integration.manage',
  'key.manage',
  'role.assign',
  'user.administer',
  'webhook.manage',
] as const satisfies readonly GlobalRight[];

/** The screens available to a user with these rights. */
export function offered<S extends Screen>(screens: readonly S[], has: (right: GlobalRight) => boolean): readonly S[] {
  return screens.filter(({ rights }) => rights === undefined || rights.some(has));
}

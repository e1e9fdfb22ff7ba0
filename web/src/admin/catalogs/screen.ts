import { IconShoppingBag } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'catalogs',
  section: 'service',
  order: 20,
  title: both('Каталог услуг', 'Catalogue'),
  summary: both('Категории, позиции и их формы', 'Categories, items and their forms'),
  icon: IconShoppingBag,
  rights: ['config.manage'],
  load: () => import('./page.tsx'),
};

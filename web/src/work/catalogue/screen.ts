import { IconShoppingBag } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'catalogue',
  order: 10,
  title: both('Каталог услуг', 'Catalogue'),
  icon: IconShoppingBag,
  load: () => import('./page.tsx'),
};

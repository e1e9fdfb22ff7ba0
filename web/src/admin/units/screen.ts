import { IconBuilding } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'units',
  section: 'people',
  order: 30,
  title: both('Подразделения', 'Organisation units'),
  summary: both('Дерево организации', 'The tree of the organisation'),
  icon: IconBuilding,
  rights: ['user.administer'],
  load: () => import('./page.tsx'),
};

import { IconLink } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'relations',
  section: 'model',
  order: 30,
  title: both('Виды связей', 'Relation definitions'),
  summary: both('Что с чем можно связать и как', 'What can be related to what, and how'),
  icon: IconLink,
  rights: ['config.manage'],
  load: () => import('./page.tsx'),
};

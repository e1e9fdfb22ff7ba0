import { IconAdjustments } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'settings',
  section: 'operation',
  order: 40,
  title: both('Параметры', 'Settings'),
  summary: both('Язык, часовой пояс и пределы', 'Language, time zone and limits'),
  icon: IconAdjustments,
  rights: ['config.manage'],
  load: () => import('./page.tsx'),
};

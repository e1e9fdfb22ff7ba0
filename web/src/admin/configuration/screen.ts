import { IconFileDiff } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'configuration',
  section: 'operation',
  order: 30,
  title: both('Конфигурация целиком', 'Whole configuration'),
  summary: both('Сравнить, применить и выгрузить файлы', 'Compare, apply and export files'),
  icon: IconFileDiff,
  rights: ['config.manage'],
  load: () => import('./page.tsx'),
};

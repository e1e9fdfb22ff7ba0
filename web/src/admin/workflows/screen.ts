import { IconArrowsSplit } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'workflows',
  section: 'model',
  order: 20,
  title: both('Процессы', 'Workflows'),
  summary: both('Состояния и переходы между ними', 'States and the transitions between them'),
  icon: IconArrowsSplit,
  rights: ['config.manage'],
  load: () => import('./page.tsx'),
};

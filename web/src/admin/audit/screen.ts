import { IconHistory } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'audit',
  section: 'operation',
  order: 10,
  title: both('Журнал изменений', 'Audit log'),
  summary: both('Кто что менял в настройках, ключах и правах', 'Who changed what in configuration, keys and rights'),
  icon: IconHistory,
  rights: ['audit.read'],
  load: () => import('./page.tsx'),
};

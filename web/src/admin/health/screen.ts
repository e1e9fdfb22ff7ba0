import { IconHeartbeat } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'health',
  section: 'operation',
  order: 20,
  title: both('Здоровье сервиса', 'Health'),
  summary: both('Готовность, части сервиса, нагрузка', 'Readiness, parts of the service, load'),
  icon: IconHeartbeat,
  rights: ['config.manage', 'audit.read'],
  load: () => import('./page.tsx'),
};

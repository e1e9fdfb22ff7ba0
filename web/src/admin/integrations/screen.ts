import { IconPlugConnected } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'integrations',
  section: 'connections',
  order: 20,
  title: both('Интеграции', 'Integrations'),
  summary: both('Вызовы извне: сопоставление, проба, журнал', 'Calls from outside: mapping, try-out, log'),
  icon: IconPlugConnected,
  rights: ['integration.manage'],
  load: () => import('./page.tsx'),
};

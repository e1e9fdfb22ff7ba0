import { IconHourglass } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'sla',
  section: 'service',
  order: 40,
  title: both('Сроки (SLA)', 'Time limits (SLA)'),
  summary: both('Сколько времени на что даётся, с пробой', 'How long what may take, with a try-out'),
  icon: IconHourglass,
  rights: ['config.manage'],
  load: () => import('./page.tsx'),
};

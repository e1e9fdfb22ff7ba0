import { IconKey } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'keys',
  section: 'connections',
  order: 10,
  title: both('Ключи API', 'API keys'),
  summary: both('Кто и с какими возможностями обращается к сервису', 'Who calls the service, and what they may do'),
  icon: IconKey,
  rights: ['key.manage'],
  load: () => import('./page.tsx'),
};

import { IconLifebuoy } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'services',
  section: 'service',
  order: 10,
  title: both('Услуги', 'Services'),
  summary: both('Что предлагается и кому', 'What is offered, and to whom'),
  icon: IconLifebuoy,
  rights: ['config.manage'],
  load: () => import('./page.tsx'),
};

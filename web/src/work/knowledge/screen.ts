import { IconBook2 } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'knowledge',
  order: 20,
  title: both('База знаний', 'Knowledge base'),
  icon: IconBook2,
  rights: ['kb.read', 'kb.write'],
  load: () => import('./page.tsx'),
};

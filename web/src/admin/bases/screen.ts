import { IconBooks } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'bases',
  section: 'knowledge',
  order: 10,
  title: both('Базы знаний', 'Knowledge bases'),
  summary: both('Разделы, языки и видимость', 'Sections, languages and visibility'),
  icon: IconBooks,
  rights: ['config.manage'],
  load: () => import('./page.tsx'),
};

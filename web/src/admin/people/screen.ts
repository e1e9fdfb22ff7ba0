import { IconUsers } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'people',
  section: 'people',
  order: 10,
  title: both('Люди', 'People'),
  summary: both(
    'Кто есть в сервисе, в каких группах и подразделениях',
    'Who is in the service, in which groups and units',
  ),
  icon: IconUsers,
  rights: ['user.administer'],
  load: () => import('./page.tsx'),
};

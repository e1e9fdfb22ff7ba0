import { IconUsersGroup } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'groups',
  section: 'people',
  order: 20,
  title: both('Группы', 'Groups'),
  summary: both('Группы людей и группы в группах', 'Groups of people, and groups in groups'),
  icon: IconUsersGroup,
  rights: ['user.administer'],
  load: () => import('./page.tsx'),
};

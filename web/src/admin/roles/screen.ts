import { IconShieldLock } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'roles',
  section: 'people',
  order: 40,
  title: both('Роли и права', 'Roles and rights'),
  summary: both('Кто что видит и меняет, и почему', 'Who sees and changes what, and why'),
  icon: IconShieldLock,
  rights: ['role.assign'],
  load: () => import('./page.tsx'),
};

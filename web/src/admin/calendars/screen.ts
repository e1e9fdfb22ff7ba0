import { IconCalendarTime } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'calendars',
  section: 'service',
  order: 30,
  title: both('Календари', 'Calendars'),
  summary: both('Рабочие часы и особые дни, год на одном листе', 'Opening hours and special days, a year on one sheet'),
  icon: IconCalendarTime,
  rights: ['config.manage'],
  load: () => import('./page.tsx'),
};

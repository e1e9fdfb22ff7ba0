import { IconFileExport } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'exports',
  section: 'connections',
  order: 40,
  title: both('Экспорт', 'Export'),
  summary: both('Записи одного типа файлом CSV или JSON', 'Records of a type as a CSV or JSON file'),
  icon: IconFileExport,
  rights: ['export.execute'],
  load: () => import('./page.tsx'),
};

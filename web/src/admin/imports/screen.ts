import { IconFileImport } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'imports',
  section: 'connections',
  order: 30,
  title: both('Импорт', 'Imports'),
  summary: both(
    'Записи, люди и группы из файлов: проверка, загрузка, отмена',
    'Records, people and groups from files: try, run, undo',
  ),
  icon: IconFileImport,
  rights: ['import.manage'],
  load: () => import('./page.tsx'),
};

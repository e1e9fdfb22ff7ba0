import { IconForms } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'types',
  section: 'model',
  order: 10,
  title: both('Виды записей и поля', 'Types and fields'),
  summary: both('Что хранится: поля, ограничения, вид формы', 'What is stored: fields, constraints, the form'),
  icon: IconForms,
  rights: ['config.manage'],
  load: () => import('./page.tsx'),
};

import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Общие панели',
    hint: 'Панели для ролей и групп. Свои панели пользователи создают в разделе «Панели показателей».',
    create: 'Новая панель',
    roles: 'Доступна ролям',
    groups: 'Доступна группам',
    nobody: 'Пока панель никому не доступна. Выберите роли или группы.',
    tiles: 'Плитки',
    addTile: 'Добавить плитку',
    titleRu: 'Заголовок по-русски',
    titleEn: 'Заголовок по-английски',
    up: 'Переместить выше',
    filter: 'Условие',
    noFilter: 'все записи',
  },
  {
    title: 'Shared dashboards',
    hint: 'Dashboards for roles and groups. Users make their own ones under “Dashboards”.',
    create: 'New dashboard',
    roles: 'Available to roles',
    groups: 'Available to groups',
    nobody: 'The dashboard is not available to anybody yet. Choose roles or groups.',
    tiles: 'Tiles',
    addTile: 'Add a tile',
    titleRu: 'Title in Russian',
    titleEn: 'Title in English',
    up: 'Move up',
    filter: 'Condition',
    noFilter: 'all records',
  },
);

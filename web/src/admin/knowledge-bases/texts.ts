import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Базы знаний',
    hint: 'Здесь настраиваются базы. Статьи создаются и публикуются в разделе «База знаний».',
    create: 'Новая база',
    visibility: 'Видимость',
    internal: 'Внутренняя, для сотрудников',
    portal: 'На портале',
    locales: 'Языки (первый — основной)',
    localesHint: 'Например, ru-RU, en-US. Нажмите Enter, чтобы добавить.',
    sections: 'Разделы',
    addSection: 'Добавить раздел',
  },
  {
    title: 'Knowledge bases',
    hint: 'Configure bases here. Create and publish articles under “Knowledge base”.',
    create: 'New base',
    visibility: 'Visibility',
    internal: 'Internal, for agents',
    portal: 'On the portal',
    locales: 'Languages (the first is the default)',
    localesHint: 'For example ru-RU, en-US. Press Enter to add a value.',
    sections: 'Sections',
    addSection: 'Add section',
  },
);

import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Базы знаний',
    hint: 'Здесь устроены базы; статьи пишут и публикуют в разделе «База знаний».',
    create: 'Новая база',
    empty: 'Баз знаний пока нет. Создайте первую, и в ней можно будет писать статьи.',
    visibility: 'Где видна',
    internal: 'Внутри, для сотрудников',
    portal: 'И на портале',
    locales: 'Языки, главный первым',
    localesHint: 'Например ru-RU, en-US. Enter добавляет.',
    sections: 'Разделы',
    addSection: 'Добавить раздел',
  },
  {
    title: 'Knowledge bases',
    hint: 'Bases are arranged here; articles are written and published under “Knowledge base”.',
    create: 'New base',
    empty: 'There are no knowledge bases yet. Create the first one, and articles can be written in it.',
    visibility: 'Where it is seen',
    internal: 'Inside, by those who work here',
    portal: 'On the portal too',
    locales: 'Languages, the main one first',
    localesHint: 'For example ru-RU, en-US. Enter adds one.',
    sections: 'Sections',
    addSection: 'Add a section',
  },
);

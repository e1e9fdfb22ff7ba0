import { defineText } from '../../i18n/text.ts';

export const texts = defineText(
  {
    title: 'Синонимы',
    hint: 'Слова с одним значением. Поиск по одному из них находит и остальные, ниже точных совпадений.',
    create: 'Новая группа синонимов',
    words: 'Слова',
    wordsHint: 'Не меньше двух слов, каждое без пробелов. Первое слово — имя группы.',
    placeholder: 'Введите слово и нажмите Enter',
  },
  {
    title: 'Synonyms',
    hint: 'Words that mean the same. A search for one of them also finds the others, below exact matches.',
    create: 'New group of synonyms',
    words: 'Words',
    wordsHint: 'At least two words, each without spaces. The first word names the group.',
    placeholder: 'Type a word and press Enter',
  },
);

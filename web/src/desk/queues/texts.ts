import { defineText } from '../../i18n/text.ts';

export const BUILT_IN = ['mine', 'unassigned', 'my-groups', 'overdue', 'waiting', 'closed'] as const;

/** Names of the built-in queues. */
export const texts = defineText(
  {
    work: 'Работа',
    mine: 'Назначено мне',
    unassigned: 'Без исполнителя',
    'my-groups': 'Мои группы',
    overdue: 'Просрочено',
    waiting: 'Ожидание',
    closed: 'Недавно закрытые',
  },
  {
    work: 'Work',
    mine: 'Assigned to me',
    unassigned: 'Unassigned',
    'my-groups': 'My groups',
    overdue: 'Overdue',
    waiting: 'Waiting',
    closed: 'Recently closed',
  },
);

import { defineText, plural, pluralEn } from '../../i18n/text.ts';

const RECORDS = ['запись', 'записи', 'записей'] as const;
const count = (n: number): string => `${n} ${plural(n, ...RECORDS)}`;
const countEn = (n: number): string => `${n} ${pluralEn(n, 'record', 'records')}`;

/** Texts of the impact of a plan. */
export const impactTexts = defineText(
  {
    title: 'Последствия',
    none: 'Доступ, записи и сроки не меняются, всё продолжает работать.',
    incomplete: 'Учтены только записи, которые вы читаете: у вас нет права «role.assign».',
    unfinished: 'Расчёт не успел охватить всё.',
    inexact: (bound: number) => `Оценка по выборке, погрешность до ${bound}.`,
    roles: 'Роли',
    people: 'Пользователи',
    peopleMore: (n: number) => `Пользователи, всего затронуто: ${n}`,
    invalid: 'Записи, которые перестанут соответствовать правилам',
    sla: 'Сроки SLA',
    broken: 'Перестанет работать',
    records: count,
    readable: (n: number) => `${count(n)} можно будет читать`,
    unreadable: (n: number) => `${count(n)} нельзя будет читать`,
    writable: (n: number) => `${count(n)} можно будет изменять`,
    unwritable: (n: number) => `${count(n)} нельзя будет изменять`,
    moved: (n: number) => `изменится сроков: ${n}`,
    earliest: (at: string) => `ближайший: ${at}`,
    breached: (n: number) => `сразу просрочено: ${n}`,
    more: (n: number) => `и ещё ${n}`,
  },
  {
    title: 'Impact',
    none: 'Access, records and due times stay the same, and everything keeps working.',
    incomplete: 'Only records that you may read were counted: you lack the right role.assign.',
    unfinished: 'Time ran out before everything was counted.',
    inexact: (bound: number) => `Estimated from a sample, error up to ${bound}.`,
    roles: 'Roles',
    people: 'Users',
    peopleMore: (n: number) => `Users, ${n} affected in total`,
    invalid: 'Records that no longer fit the rules',
    sla: 'SLA due times',
    broken: 'Stops working',
    records: countEn,
    readable: (n: number) => `${countEn(n)} will be readable`,
    unreadable: (n: number) => `${countEn(n)} will not be readable`,
    writable: (n: number) => `${countEn(n)} can be changed`,
    unwritable: (n: number) => `${countEn(n)} can no longer be changed`,
    moved: (n: number) => `${n} due ${pluralEn(n, 'time', 'times')} will move`,
    earliest: (at: string) => `earliest ${at}`,
    breached: (n: number) => `${n} breached at once`,
    more: (n: number) => `and ${n} more`,
  },
);

/** What happens to a field: its access and the change. */
export const fieldTexts = defineText(
  {
    'read gained': 'можно будет читать',
    'read lost': 'нельзя будет читать',
    'write gained': 'можно будет изменять',
    'write lost': 'нельзя будет изменять',
  },
  {
    'read gained': 'will be readable',
    'read lost': 'will not be readable',
    'write gained': 'can be changed',
    'write lost': 'can no longer be changed',
  },
);

/** Why something stops working. */
export const reasonTexts = defineText(
  {
    ARCHIVED: 'переносится в архив',
    DISABLED: 'выключается',
    PRINCIPAL_ARCHIVED: 'пользователь, от имени которого оно работает, переносится в архив',
    PRINCIPAL_READS_LESS: 'пользователь, от имени которого оно работает, перестанет читать записи',
    PRINCIPAL_MAY_NOT_CREATE: 'пользователь, от имени которого оно работает, не сможет создавать записи',
    PRINCIPAL_MAY_NOT_UPDATE: 'пользователь, от имени которого оно работает, не сможет изменять записи',
    PRINCIPAL_MAY_NOT_COMMENT: 'пользователь, от имени которого оно работает, не сможет комментировать записи',
    PRINCIPAL_MAY_NOT_TRANSITION: 'пользователь, от имени которого оно работает, не сможет выполнять переходы',
    NOBODY_MAY_USE: 'ни одна роль не даёт нужных для этого прав',
    TYPE_OR_FIELD_MISSING: 'типа или поля больше нет',
  },
  {
    ARCHIVED: 'is archived',
    DISABLED: 'is disabled',
    PRINCIPAL_ARCHIVED: 'the user that it runs as is archived',
    PRINCIPAL_READS_LESS: 'the user that it runs as can no longer read some records',
    PRINCIPAL_MAY_NOT_CREATE: 'the user that it runs as can no longer create records',
    PRINCIPAL_MAY_NOT_UPDATE: 'the user that it runs as can no longer change records',
    PRINCIPAL_MAY_NOT_COMMENT: 'the user that it runs as can no longer comment on records',
    PRINCIPAL_MAY_NOT_TRANSITION: 'the user that it runs as can no longer make transitions',
    NOBODY_MAY_USE: 'no role gives the rights that it needs any more',
    TYPE_OR_FIELD_MISSING: 'its type or a field is gone',
  },
);

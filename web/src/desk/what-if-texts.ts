/** Texts of the preview of a write. */
import { defineText } from '../i18n/text.ts';

export const whatIfTexts = defineText(
  {
    ask: 'Что произойдёт?',
    nothingDone: 'Это предпросмотр: ничего не изменено.',
    nothing: 'Ничего не изменится.',
    created: (title: string, state: string) =>
      `Будет создана запись${title === '' ? '' : ` «${title}»`}${state === '' ? '' : `, состояние: «${state}»`}.`,
    changed: (n: number) => `Будет изменено записей: ${n}`,
    failed: (n: number) => `С ошибкой: ${n}`,
    andMore: (n: number) => `и ещё ${n}`,
    STARTED: 'отсчёт начнётся',
    PAUSED: 'отсчёт остановится на паузу',
    RESUMED: 'отсчёт продолжится',
    STOPPED: 'отсчёт завершится',
    RETARGETED: 'срок изменится',
    due: 'срок',
    rule: (code: string) => `Правило ${code}`,
    DONE: 'сработает',
    FAILED: 'сработает с ошибкой, его действия не выполнятся',
    SKIPPED: 'не сработает: условие не выполнено',
    webhooks: (n: number) => `Подписки вебхуков, которые получат события: ${n}`,
  },
  {
    ask: 'What would happen?',
    nothingDone: 'This is a preview: nothing was changed.',
    nothing: 'Nothing would change.',
    created: (title: string, state: string) =>
      `A record${title === '' ? '' : ` "${title}"`} would be created${state === '' ? '' : `, state: ${state}`}.`,
    changed: (n: number) => `${n} records would change`,
    failed: (n: number) => `${n} would fail`,
    andMore: (n: number) => `and ${n} more`,
    STARTED: 'starts',
    PAUSED: 'is paused',
    RESUMED: 'resumes',
    STOPPED: 'stops',
    RETARGETED: 'gets another due time',
    due: 'due',
    rule: (code: string) => `Rule ${code}`,
    DONE: 'fires',
    FAILED: 'fires and fails, so its actions are not carried out',
    SKIPPED: 'does not fire: its condition is not met',
    webhooks: (n: number) => `Webhooks that would receive the events: ${n}`,
  },
);

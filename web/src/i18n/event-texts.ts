import type { WebhookEvent } from '../../../src/contract/events.ts';
import { defineText } from './text.ts';

/** Names of the events that the history and webhooks show. An event without a name here does not compile. */
export const eventTexts = defineText(
  {
    ObjectCreated: 'Запись создана',
    ObjectUpdated: 'Запись изменена',
    ObjectTransitioned: 'Сменилось состояние',
    ObjectArchived: 'Запись убрана в архив',
    ObjectRestored: 'Запись возвращена',
    CommentAdded: 'Комментарий добавлен',
    CommentUpdated: 'Комментарий изменён',
    CommentArchived: 'Комментарий убран',
    AttachmentAdded: 'Файл добавлен',
    AttachmentArchived: 'Файл убран',
    RelationAdded: 'Связь добавлена',
    RelationArchived: 'Связь убрана',
    SlaStarted: 'Срок пошёл',
    SlaPaused: 'Срок остановлен',
    SlaResumed: 'Срок продолжен',
    SlaStopped: 'Срок завершён',
    SlaRecalculated: 'Срок пересчитан',
    SlaWarning: 'Срок близко',
    SlaBreached: 'Срок нарушен',
    ArticlePublished: 'Статья опубликована',
    ArticleArchived: 'Статья убрана',
  } satisfies Record<WebhookEvent, string>,
  {
    ObjectCreated: 'Record created',
    ObjectUpdated: 'Record changed',
    ObjectTransitioned: 'State changed',
    ObjectArchived: 'Record archived',
    ObjectRestored: 'Record restored',
    CommentAdded: 'Comment added',
    CommentUpdated: 'Comment changed',
    CommentArchived: 'Comment archived',
    AttachmentAdded: 'File added',
    AttachmentArchived: 'File archived',
    RelationAdded: 'Relation added',
    RelationArchived: 'Relation archived',
    SlaStarted: 'Time limit started',
    SlaPaused: 'Time limit paused',
    SlaResumed: 'Time limit resumed',
    SlaStopped: 'Time limit stopped',
    SlaRecalculated: 'Time limit recalculated',
    SlaWarning: 'Time limit near',
    SlaBreached: 'Time limit breached',
    ArticlePublished: 'Article published',
    ArticleArchived: 'Article archived',
  },
);

export type EventKind = Extract<keyof (typeof eventTexts)['ru-RU'], string>;
export const EVENT_KINDS = Object.keys(eventTexts['ru-RU']) as EventKind[];

/** The name of an event type; unknown ones are shown unchanged. */
export function eventName(texts: Readonly<Record<string, string>>, kind: string): string {
  return Object.hasOwn(texts, kind) ? (texts[kind] ?? kind) : kind;
}

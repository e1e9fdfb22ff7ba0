import type { WebhookEvent } from '../../../src/contract/events.ts';
import { defineText } from './text.ts';

/** Names of the events that the history and webhooks show. An event without a name here does not compile. */
export const eventTexts = defineText(
  {
    ObjectCreated: 'Запись создана',
    ObjectUpdated: 'Запись изменена',
    ObjectTransitioned: 'Изменено состояние',
    ObjectArchived: 'Запись перемещена в архив',
    ObjectRestored: 'Запись восстановлена',
    CommentAdded: 'Комментарий добавлен',
    CommentUpdated: 'Комментарий изменён',
    CommentArchived: 'Комментарий удалён',
    AttachmentAdded: 'Вложение добавлено',
    AttachmentArchived: 'Вложение удалено',
    RelationAdded: 'Связь добавлена',
    RelationArchived: 'Связь удалена',
    SlaStarted: 'SLA: отсчёт начат',
    SlaPaused: 'SLA: отсчёт приостановлен',
    SlaResumed: 'SLA: отсчёт возобновлён',
    SlaStopped: 'SLA: отсчёт остановлен',
    SlaRecalculated: 'SLA: срок пересчитан',
    SlaWarning: 'SLA: срок скоро истечёт',
    SlaBreached: 'SLA: срок нарушен',
    ArticlePublished: 'Статья опубликована',
    ArticleArchived: 'Статья перемещена в архив',
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
    AttachmentAdded: 'Attachment added',
    AttachmentArchived: 'Attachment archived',
    RelationAdded: 'Relation added',
    RelationArchived: 'Relation archived',
    SlaStarted: 'SLA started',
    SlaPaused: 'SLA paused',
    SlaResumed: 'SLA resumed',
    SlaStopped: 'SLA stopped',
    SlaRecalculated: 'SLA recalculated',
    SlaWarning: 'SLA warning',
    SlaBreached: 'SLA breached',
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

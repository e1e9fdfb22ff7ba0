/**
 * All events, declared once. A declaration decides where the event is shown (history of the record, webhooks, audit log) and which
 * properties its data must have. `ctx.emit`, the webhook catalogue and its schemas in the OpenAPI document, the texts of the
 * console, the triggers of rules and docs/reference/events.md derive from these declarations; an event that is not declared here
 * does not compile. The console imports this file: it must not import the schema library.
 */
import type { Static, TObject } from 'typebox';
import type { EVENT_DATA } from './event-data.ts';
import type { Scope } from './scopes.ts';

type DataShape = keyof typeof EVENT_DATA;
/** The name that people see, in Russian and in English. */
type Names = readonly [ru: string, en: string];

interface Declaration {
  /** What the event is about. Events of a record's parts carry the record's id, too. */
  readonly subject: 'record' | 'comment' | 'attachment' | 'relation' | 'sla' | 'article' | 'service';
  /** Whether the record's history shows it. */
  readonly history: boolean;
  /** Whether webhook subscriptions can name it. */
  readonly webhook: boolean;
  /** Whether the audit log shows it. */
  readonly audit: boolean;
  readonly summary: string;
  readonly names: Names;
  /** The properties that `data` always has, in `EVENT_DATA`. Webhooks deliver them. */
  readonly data: DataShape;
}

/** An event of a record or of one of its parts: in the history and for webhooks. */
function ofRecord<S extends Declaration['subject'], D extends DataShape>(
  subject: S,
  summary: string,
  names: Names,
  data: D,
) {
  return { subject, history: true as const, webhook: true as const, audit: false as const, summary, names, data };
}

/** An event that only the history of the record shows. */
function inHistory<D extends DataShape>(summary: string, names: Names, data: D) {
  const subject = 'record' as const;
  return { subject, history: true as const, webhook: false as const, audit: false as const, summary, names, data };
}

/** An event of an article: in the audit log and for webhooks. */
function ofArticle<D extends DataShape>(summary: string, names: Names, data: D) {
  const subject = 'article' as const;
  return { subject, history: false as const, webhook: true as const, audit: true as const, summary, names, data };
}

/** An event of the audit log. */
function audited(summary: string, names: Names) {
  const [subject, data] = ['service', 'none'] as const;
  return { subject, history: false as const, webhook: false as const, audit: true as const, summary, names, data };
}

export const EVENTS = {
  ObjectCreated: ofRecord('record', 'A record was created.', ['Запись создана', 'Record created'], 'none'),
  ObjectUpdated: ofRecord('record', 'Values of a record changed.', ['Запись изменена', 'Record changed'], 'none'),
  ObjectTransitioned: ofRecord(
    'record',
    'A record changed its workflow state.',
    ['Изменено состояние', 'State changed'],
    'transition',
  ),
  ObjectArchived: ofRecord(
    'record',
    'A record was archived.',
    ['Запись перемещена в архив', 'Record archived'],
    'none',
  ),
  ObjectRestored: ofRecord(
    'record',
    'An archived record was restored.',
    ['Запись восстановлена', 'Record restored'],
    'none',
  ),
  CommentAdded: ofRecord(
    'comment',
    'A comment was added to a record.',
    ['Комментарий добавлен', 'Comment added'],
    'comment',
  ),
  CommentUpdated: ofRecord('comment', 'A comment changed.', ['Комментарий изменён', 'Comment changed'], 'comment'),
  CommentArchived: ofRecord(
    'comment',
    'A comment was archived.',
    ['Комментарий удалён', 'Comment archived'],
    'comment',
  ),
  AttachmentAdded: ofRecord(
    'attachment',
    'A file was attached to a record.',
    ['Вложение добавлено', 'Attachment added'],
    'attachment',
  ),
  AttachmentArchived: ofRecord(
    'attachment',
    'A file of a record was archived.',
    ['Вложение удалено', 'Attachment archived'],
    'attachment',
  ),
  RelationAdded: ofRecord(
    'relation',
    'A relation from a record was created.',
    ['Связь добавлена', 'Relation added'],
    'relation',
  ),
  RelationArchived: ofRecord(
    'relation',
    'A relation from a record was removed.',
    ['Связь удалена', 'Relation archived'],
    'relation',
  ),
  RuleNotified: inHistory(
    'A rule notified users.',
    ['Правило отправило уведомления', 'A rule sent notifications'],
    'rule',
  ),
  RulePosted: inHistory(
    'A rule sent a message to another system.',
    ['Правило отправило сообщение в другую систему', 'A rule sent a message to another system'],
    'rule',
  ),
  SlaStarted: ofRecord('sla', 'An SLA instance started.', ['SLA: отсчёт начат', 'SLA started'], 'sla'),
  SlaPaused: ofRecord('sla', 'An SLA instance was paused.', ['SLA: отсчёт приостановлен', 'SLA paused'], 'sla'),
  SlaResumed: ofRecord('sla', 'An SLA instance was resumed.', ['SLA: отсчёт возобновлён', 'SLA resumed'], 'sla'),
  SlaStopped: ofRecord('sla', 'An SLA instance was stopped.', ['SLA: отсчёт остановлен', 'SLA stopped'], 'sla'),
  SlaRecalculated: ofRecord(
    'sla',
    'Target or calendar of an SLA instance changed.',
    ['SLA: срок пересчитан', 'SLA recalculated'],
    'sla',
  ),
  SlaWarning: ofRecord(
    'sla',
    'A warning threshold of the target was reached.',
    ['SLA: срок скоро истечёт', 'SLA warning'],
    'sla',
  ),
  SlaBreached: ofRecord('sla', 'The target was breached.', ['SLA: срок нарушен', 'SLA breached'], 'sla'),
  ArticlePublished: ofArticle(
    'A version of an article was published.',
    ['Статья опубликована', 'Article published'],
    'article',
  ),
  ArticleArchived: ofArticle(
    'A version of an article was archived.',
    ['Статья перемещена в архив', 'Article archived'],
    'article',
  ),
  ConfigChanged: audited('A configuration item changed.', ['Изменена конфигурация', 'Configuration changed']),
  KeyCreated: audited('An API key was issued.', ['Создан ключ', 'Key created']),
  KeyRotated: audited('An API key was rotated.', ['Заменён ключ', 'Key rotated']),
  KeyRevoked: audited('An API key was revoked.', ['Отозван ключ', 'Key revoked']),
  SignedIn: audited('A user signed in.', ['Вход', 'Signed in']),
  SignInRefused: audited('A sign-in was rejected.', ['Отказ во входе', 'Sign-in refused']),
  SignedOut: audited('A user signed out.', ['Выход', 'Signed out']),
  SessionsEnded: audited('A user ended sessions of their own.', ['Завершены свои сеансы', 'Own sessions ended']),
  RequestExplained: audited('It was explained how a request of a user or key is decided.', [
    'Объяснено решение о запросе',
    'Decision on a request explained',
  ]),
  NotificationsExplained: audited('It was explained which notifications of a record a user got.', [
    'Объяснены уведомления пользователя',
    'Notifications of a user explained',
  ]),
  PasswordSet: audited('A password was set.', ['Задан пароль', 'Password set']),
  UserCreated: audited('A user was created.', ['Добавлен пользователь', 'User added']),
  UserChanged: audited('A user changed.', ['Изменён пользователь', 'User changed']),
  UserArchived: audited('A user was archived.', ['Пользователь перемещён в архив', 'User archived']),
  UserRestored: audited('A user was restored.', ['Пользователь восстановлен из архива', 'User restored']),
  GroupCreated: audited('A group was created.', ['Создана группа', 'Group created']),
  GroupChanged: audited('A group changed.', ['Изменена группа', 'Group changed']),
  GroupArchived: audited('A group was archived.', ['Группа перемещена в архив', 'Group archived']),
  GroupRestored: audited('A group was restored.', ['Группа восстановлена из архива', 'Group restored']),
  GroupMemberAdded: audited('A member was added to a group.', ['Добавлен участник группы', 'Member added to group']),
  GroupMemberRemoved: audited('A member was removed from a group.', [
    'Удалён участник группы',
    'Member removed from group',
  ]),
  OrgUnitCreated: audited('An organisation unit was created.', ['Создано подразделение', 'Unit created']),
  OrgUnitChanged: audited('An organisation unit changed.', ['Изменено подразделение', 'Unit changed']),
  OrgUnitArchived: audited('An organisation unit was archived.', ['Подразделение перемещено в архив', 'Unit archived']),
  OrgUnitRestored: audited('An organisation unit was restored.', [
    'Подразделение восстановлено из архива',
    'Unit restored',
  ]),
  OrgMemberSet: audited('A user was assigned to an organisation unit.', ['Назначено подразделение', 'Unit set']),
  OrgMemberRemoved: audited('A user was removed from an organisation unit.', [
    'Пользователь удалён из подразделения',
    'Removed from unit',
  ]),
  SigningSecretCreated: audited('A signing secret was created.', ['Создан секрет подписи', 'Signing secret created']),
  SigningSecretRotated: audited('A signing secret was rotated.', ['Заменён секрет подписи', 'Signing secret rotated']),
  WebhookDeliveryRetried: audited('A webhook delivery was retried by hand.', [
    'Доставка повторена',
    'Delivery retried',
  ]),
  WebhookTested: audited('A sample delivery was sent to the endpoint of a webhook subscription.', [
    'Отправлен тестовый запрос вебхука',
    'Webhook test sent',
  ]),
  MailSentAgain: audited('A mail to a user was sent again by hand.', ['Письмо отправлено повторно', 'Mail sent again']),
  QueueShared: audited('A queue was shared.', ['Очередь сделана общей', 'Queue shared']),
  QueueRemoved: audited('A shared queue was deleted.', ['Очередь удалена', 'Queue removed']),
  DashboardShared: audited('A dashboard was shared.', ['Панель показателей сделана общей', 'Dashboard shared']),
  DashboardRemoved: audited('A shared dashboard was deleted.', ['Панель показателей удалена', 'Dashboard removed']),
  ArticleAudiencesSet: audited('The audiences of an article were set.', [
    'Изменена аудитория статьи',
    'Audience of an article set',
  ]),
  ArticleDrafted: audited('A draft of an article was created.', ['Создан черновик статьи', 'Article drafted']),
  ArticleDraftChanged: audited('A draft of an article changed.', [
    'Изменён черновик статьи',
    'Draft of an article changed',
  ]),
  ArticleDraftArchived: audited('A draft of an article was archived.', [
    'Черновик статьи перемещён в архив',
    'Draft of an article archived',
  ]),
  ArticleRestored: audited('A version of an article was restored.', [
    'Статья восстановлена из архива',
    'Article restored',
  ]),
  ArticleReviewSet: audited('The review date of an article was set.', [
    'Изменена дата пересмотра статьи',
    'Review date of an article set',
  ]),
} as const;

type Events = typeof EVENTS;
export type EventType = keyof Events;
type EventsWith<Part extends Partial<Declaration>> = {
  [T in EventType]: Events[T] extends Part ? T : never;
}[EventType];

/** Events about one kind of subject, for example the comments of a record. */
export type EventOf<Subject extends Declaration['subject']> = EventsWith<{ subject: Subject }>;
export type HistoryEventType = EventsWith<{ history: true }>;
/** The events that rules can react to: those in the history of a record that webhooks deliver. */
export type RuleEvent = EventsWith<{ history: true; webhook: true }>;
export type WebhookEvent = EventsWith<{ webhook: true }>;
export type AuditEvent = EventsWith<{ audit: true }>;

/** The data of an event: the declared properties and any others. */
export type EventData<T extends EventType> = Static<TObject<(typeof EVENT_DATA)[Events[T]['data']]>> &
  Record<string, unknown>;

/** The events that a subscription can name, in the order of their declarations. */
export const WEBHOOK_EVENTS = (Object.keys(EVENTS) as EventType[]).filter(
  (type): type is WebhookEvent => EVENTS[type].webhook,
);

export const AUDIT_EVENTS = (Object.keys(EVENTS) as EventType[]).filter(
  (type): type is AuditEvent => EVENTS[type].audit,
);

export const RULE_EVENTS = WEBHOOK_EVENTS.filter((type): type is RuleEvent => EVENTS[type].history);

const SCOPES: { readonly [Subject in Declaration['subject']]?: Scope } = {
  comment: 'comments:read',
  attachment: 'files:read',
  relation: 'relations:read',
  sla: 'sla:read',
  article: 'kb:read',
};

/** The scope that reading events of this type needs besides `objects:read`. */
export function scopeOf(type: EventType): Scope | undefined {
  return SCOPES[EVENTS[type].subject];
}

/** Whether an event is about this kind of subject. */
export function isAbout(type: EventType, subject: Declaration['subject']): boolean {
  return EVENTS[type].subject === subject;
}

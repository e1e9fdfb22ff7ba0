/**
 * Makes the mail of a notification: what it says is read with the rights of the recipient at the moment of sending. Templates of
 * the bundle that a rule names, or whose code is the kind of the notification, replace the built-in ones; `several` is that of digests.
 */
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { isActive } from '../../contract/state.ts';
import { placeholders } from '../../lib/template.ts';
import { templateValues } from '../desk/index.ts';
import { localized, registry } from '../metadata/index.ts';
import {
  type DigestedNotification,
  type MailedNotification,
  readDigested,
  readMailed,
} from '../notifications/index.ts';
import { findVisible, preload, readableTitle, type VisibleObject } from '../objects/index.ts';
import { type Mailbox, mailboxes, templates } from './registry.ts';
import { type FilledMail, fillMail } from './template.ts';

export interface Composed extends FilledMail {
  /** Of a mail about one notification. */
  about: { objectId: string; commentId: string | null; typeCode: string } | null;
  /** The mailbox of the record type, which receives replies. */
  mailbox: Mailbox | null;
}

const EVENTS = {
  ru: {
    assigned: 'Вам назначено обращение',
    comment: 'Новый комментарий',
    mention: 'Вас упомянули',
    state: 'Состояние изменилось',
    sla: 'Срок по SLA',
    rule: 'Сообщение правила',
    watch: 'Изменение в обращении, за которым вы следите',
  },
  en: {
    assigned: 'Assigned to you',
    comment: 'New comment',
    mention: 'You were mentioned',
    state: 'The state changed',
    sla: 'SLA deadline',
    rule: 'Message of a rule',
    watch: 'A record that you watch changed',
  },
} as const;

const BUILT_IN = {
  ru: {
    subject: '[{{number}}] {{title}}',
    body: '**{{$event}}**\n\n{{$author}}\n\n{{$comment}}\n\nСостояние: {{workflowState}}\n\n[Открыть {{number}}]({{$url}})',
    several: 'Уведомления: {{$event}}',
  },
  en: {
    subject: '[{{number}}] {{title}}',
    body: '**{{$event}}**\n\n{{$author}}\n\n{{$comment}}\n\nState: {{workflowState}}\n\n[Open {{number}}]({{$url}})',
    several: 'Notifications: {{$event}}',
  },
} as const;

/** Maximum number of notifications in the text of one mail. A digest can be about thousands, which are counted. */
const MAX_LISTED = 100;

/**
 * @param ctx with the rights and the language of the recipient
 * @returns undefined if the recipient may see none of the notifications
 */
export async function composeMail(
  ctx: ReadContext,
  { ids, userId, publicUrl }: { ids: readonly string[]; userId: string; publicUrl: string },
): Promise<Composed | undefined> {
  const boxes = [...mailboxes(ctx).values()].filter((one) => one.enabled && isActive(one));
  const [id] = ids;
  if (id === undefined || ids.length > 1) {
    const filled = await several(ctx, await readDigested(ctx, userId, ids, MAX_LISTED), publicUrl);
    return filled && { ...filled, about: null, mailbox: boxes[0] ?? null };
  }
  const note = await readMailed(ctx, userId, id);
  const object = note === undefined ? undefined : await findVisible(ctx, note.objectId);
  if (note === undefined || object === undefined) return undefined;
  return {
    ...(await single(ctx, note, object, publicUrl)),
    about: { objectId: note.objectId, commentId: note.commentId, typeCode: object.type.code },
    mailbox: boxes.find(({ typeId }) => typeId === object.type.id) ?? null,
  };
}

function language(ctx: ReadContext): 'ru' | 'en' {
  return (ctx.locale ?? registry(ctx).settings.defaultLocale).startsWith('ru') ? 'ru' : 'en';
}

async function single(
  ctx: ReadContext,
  note: MailedNotification,
  object: VisibleObject,
  publicUrl: string,
): Promise<FilledMail> {
  const { defaultLocale } = registry(ctx).settings;
  const { byCode, byId } = templates(ctx);
  const own = (note.templateId === null ? undefined : byId.get(note.templateId)) ?? byCode.get(note.kind);
  const inOwnLanguage = (text: Parameters<typeof localized>[0]): string =>
    localized(text, ctx.locale ?? defaultLocale, defaultLocale);
  const builtIn = BUILT_IN[language(ctx)];
  const template = own === undefined ? builtIn : { subject: inOwnLanguage(own.subject), body: inOwnLanguage(own.body) };
  const names = new Set([...placeholders(template.subject), ...placeholders(template.body)]);
  const valueOf = await templateValues(ctx, object, names);
  const special: Readonly<Record<string, string>> = {
    $url: `${publicUrl}/records/${note.objectId}`,
    $comment: note.comment ?? '',
    $author: note.actorName ?? '',
    $recipient: ctx.actor.displayName,
    $event: EVENTS[language(ctx)][note.kind],
  };
  return fillMail(template, (name) => (Object.hasOwn(special, name) ? (special[name] ?? '') : valueOf(name)));
}

/** One line for each notification, with a link; undefined without any. */
async function several(
  ctx: ReadContext,
  { total, first }: { total: number; first: readonly DigestedNotification[] },
  publicUrl: string,
): Promise<FilledMail | undefined> {
  await preload(ctx, [...new Set(first.map(({ objectId }) => objectId))]);
  const words = EVENTS[language(ctx)];
  const values = new Map<string, string>([['$event', String(total)]]);
  const lines: string[] = [];
  for (const [index, { kind, objectId }] of first.entries()) {
    const object = await findVisible(ctx, objectId);
    if (object === undefined) continue;
    values.set(`t${index}`, [object.row.number, readableTitle(object)].filter(Boolean).join(' '));
    values.set(`e${index}`, words[kind]);
    values.set(`u${index}`, `${publicUrl}/records/${objectId}`);
    lines.push(`- {{e${index}}}: [{{t${index}}}]({{u${index}}})`);
  }
  if (lines.length === 0) return undefined;
  const subject = BUILT_IN[language(ctx)].several;
  return fillMail({ subject, body: lines.join('\n') }, (name) => values.get(name) ?? '');
}

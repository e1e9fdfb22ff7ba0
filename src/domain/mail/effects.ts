/** What a used mail becomes: a record or a comment, with its files. They are made by the ordinary commands, as the sender. */
import { type CommentVisibility, REPLY_VISIBILITY } from '../../contract/comment-visibility.ts';
import { Fault } from '../../lib/fault.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { addFile } from '../attachments/index.ts';
import { addComment, type CommentAnswer } from '../comments/index.ts';
import { findType, registry, setValue } from '../metadata/index.ts';
import { createFor, findVisible } from '../objects/index.ts';
import { type MailFile, safeFilename } from './content.ts';
import type { ParsedMail } from './envelope.ts';
import { mailFields } from './fields.ts';
import { type Judged, recordOfMail } from './judge.ts';
import type { Mailbox } from './registry.ts';

/** The record that a mail becomes, by its sender. */
export async function makeRecord(
  ctx: WriteContext,
  mailbox: Mailbox,
  mail: ParsedMail,
  { text, files }: Judged,
): Promise<{ objectId: string; commentId: string | null }> {
  const type = findType(registry(ctx), mailbox.typeId ?? '');
  if (type?.active !== true) throw new Fault('NOT_FOUND', 'The record type of the mailbox does not exist any more.');
  const { definition, fields } = type.newest;
  const { kept, notes } = chosenFiles(ctx, files, ctx.actor.mayEver(type.id, 'attachment.add'));
  const made = recordOfMail(mail.content.title, withNotes(text, notes), definition, mailbox.defaults);
  const { requester } = mailFields(definition);
  const object = await createFor(ctx, ctx, type, {
    values: made.values,
    configured: {
      form: new Map([...fields.values()].map(({ code, required }) => [code, required])),
      writes: () => {
        const writes: Record<string, unknown> = {};
        if (requester !== null) writes[requester] = ctx.actor.userId;
        for (const [code, value] of Object.entries(mailbox.defaults)) {
          const field = fields.get(code);
          if (field !== undefined) writes[code] = setValue(ctx, field, value);
        }
        return writes;
      },
    },
  });
  const objectId = object.row.id;
  const comment =
    made.comment === null
      ? null
      : await addComment(ctx, { objectId, body: made.comment, visibility: REPLY_VISIBILITY });
  await addFiles(ctx, objectId, kept, comment);
  return { objectId, commentId: comment?.id ?? null };
}

export async function makeComment(
  ctx: WriteContext,
  { objectId, visibility }: { objectId: string; visibility: CommentVisibility },
  { text, files }: Judged,
): Promise<{ objectId: string; commentId: string | null }> {
  const object = await findVisible(ctx, objectId);
  const { kept, notes } = chosenFiles(ctx, files, object?.right.can('attachment.add') === true);
  // Files belong to the comment, so there must be one.
  const body = withNotes(text, notes) || kept.map(({ filename }) => filename).join('\n');
  const comment = body === '' ? null : await addComment(ctx, { objectId, body, visibility });
  await addFiles(ctx, objectId, kept, comment);
  return { objectId, commentId: comment?.id ?? null };
}

/** Maximum number of files of one message that become attachments. */
const MAX_FILES = 50;

/** The files that become attachments, and a line for each of the others, so that nothing is lost unnoticed. */
function chosenFiles(
  ctx: ReadContext,
  files: readonly MailFile[],
  mayAdd: boolean,
): { kept: { filename: string; file: MailFile }[]; notes: string[] } {
  const { attachmentMaxBytes, defaultLocale } = registry(ctx).settings;
  const note = defaultLocale.startsWith('ru') ? 'Файл не приложен' : 'File not attached';
  const kept: { filename: string; file: MailFile }[] = [];
  const notes: string[] = [];
  for (const [index, file] of files.entries()) {
    const filename = safeFilename(file, index);
    const size = file.content.byteLength;
    if (mayAdd && kept.length < MAX_FILES && size <= attachmentMaxBytes) kept.push({ filename, file });
    else if (notes.length < MAX_FILES) notes.push(`[${note}: ${filename}, ${Math.ceil(size / 1024)} KiB]`);
  }
  return { kept, notes };
}

function withNotes(text: string, notes: readonly string[]): string {
  return [text, ...notes].filter((part) => part !== '').join('\n\n');
}

async function addFiles(
  ctx: WriteContext,
  objectId: string,
  files: readonly { filename: string; file: MailFile }[],
  comment: CommentAnswer | null,
): Promise<void> {
  for (const { filename, file } of files) {
    const mediaType = MEDIA_TYPE.test(file.mediaType) ? file.mediaType : 'application/octet-stream';
    await addFile(ctx, { objectId, filename, mediaType, comment: comment ?? undefined }, () => file.content);
  }
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i;

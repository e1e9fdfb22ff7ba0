/** The files of the comment that is being written: drafts on the service, and uploads that are not yet there. */
import { ActionIcon } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { Attachment, attachments } from '../../api/types.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { attachmentsQuery, recordKey } from '../queries.ts';
import { fileTexts } from './file-texts.ts';
import { FileMark } from './file-tiles.tsx';
import { type Upload, useUpload } from './files-upload.tsx';
import classes from './lists.module.css';
import { UploadLines } from './upload-lines.tsx';

/** The most that the service takes with one comment. */
const MAX = 50;

export interface ReplyFiles {
  drafts: readonly Attachment[];
  upload: Upload;
  /** Why the comment cannot be sent yet. */
  problem: string | undefined;
}

interface ReplyFilesOfRecord extends ReplyFiles {
  /** What is sent: a comment of files only has their names as its text. */
  toSend: (body: string) => { body: string; attachmentIds: readonly string[] };
  /** To be called when they were sent. */
  sent: (ids: readonly string[]) => void;
}

export function useReplyFiles(recordId: string): ReplyFilesOfRecord {
  const t = useText(fileTexts);
  const client = useQueryClient();
  const upload = useUpload(recordId, true);
  const { data } = useQuery(attachmentsQuery(recordId));
  const drafts = data?.filter(({ draft }) => draft === true) ?? [];
  const problem = (): string | undefined => {
    if (upload.files.some(({ state }) => state !== 'failed')) return t.waitForFiles;
    if (upload.files.length > 0) return t.failedFiles;
    return drafts.length > MAX ? t.tooMany : undefined;
  };
  return {
    drafts,
    upload,
    problem: problem(),
    toSend: (body) => {
      const names = drafts.map(({ originalFilename }) =>
        originalFilename.replaceAll(/[\\`*_[\]<>~#]/g, String.raw`\$&`),
      );
      return {
        body: body.trim() === '' && names.length > 0 ? t.onlyFiles(names.join(', ')) : body,
        attachmentIds: drafts.map(({ id }) => id),
      };
    },
    // The list of the composer is empty at once; the files appear with the comment.
    sent: (ids) =>
      client.setQueryData(attachmentsQuery(recordId).queryKey, (before) =>
        before?.filter(({ id, draft }) => draft !== true || !ids.includes(id)),
      ),
  };
}

export function ReplyFileList({ files: { drafts, upload } }: { files: ReplyFiles }) {
  const t = useText(fileTexts);
  if (drafts.length + upload.files.length === 0) return null;
  return (
    <ul className={classes.list} aria-label={t.replyFiles}>
      {drafts.map((file) => (
        <DraftLine key={file.id} file={file} />
      ))}
      <UploadLines upload={upload} />
    </ul>
  );
}

function DraftLine({ file }: { file: Attachment }) {
  const t = useText(fileTexts);
  const format = useFormats();
  const remove = useAction({
    run: () =>
      call<typeof attachments.archiveAttachment>('DELETE', `/attachments/${file.id}`, {
        body: { expectedRevision: file.revision },
      }),
    touches: [recordKey(file.objectId)],
  });
  return (
    <li className={classes.item}>
      <FileMark file={file} />
      <span className={classes.text}>
        {file.originalFilename}
        <small>{format.bytes(file.size)}</small>
      </span>
      <ActionIcon
        onClick={() => remove.mutate()}
        loading={remove.isPending}
        aria-label={t.remove(file.originalFilename)}
        title={t.remove(file.originalFilename)}
      >
        <IconX size={15} />
      </ActionIcon>
    </li>
  );
}

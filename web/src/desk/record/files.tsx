/** Attachments of a record. */
import { ActionIcon, Anchor, Button, FileButton, Group, Loader, Stack, Text } from '@mantine/core';
import { IconPaperclip, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { address, call } from '../../api/client.ts';
import type { Attachment, attachments } from '../../api/types.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Time } from '../../ui/time.tsx';
import { attachmentsQuery, recordKey } from '../queries.ts';
import { texts } from '../texts.ts';
import { fileTexts } from './file-texts.ts';
import { FileMark, FileTiles } from './file-tiles.tsx';
import type { Upload } from './files-upload.tsx';
import classes from './lists.module.css';
import { UploadLines } from './upload-lines.tsx';

export function Files({
  recordId,
  can,
  upload,
}: {
  recordId: string;
  can: (action: string) => boolean;
  upload: Upload;
}) {
  const t = useText(texts);
  const { data, error, refetch } = useQuery(attachmentsQuery(recordId));
  // Drafts are shown in the comment that is being written.
  const files = data?.filter(({ draft }) => draft !== true);
  if (error !== null) return <FaultAlert error={error} retry={() => void refetch()} />;
  return (
    <Stack gap="sm">
      {data === undefined && <Loader size="sm" />}
      {files?.length === 0 && upload.files.length === 0 && <Empty>{t.noFiles}</Empty>}
      <ul className={classes.list}>
        {files?.map((file) => (
          <FileLine key={file.id} file={file} mayDelete={can('attachment.delete')} />
        ))}
        <UploadLines upload={upload} />
      </ul>
      {can('attachment.add') && (
        <Group gap="xs">
          <FileButton onChange={upload.add} multiple>
            {(props) => (
              <Button {...props} variant="default" leftSection={<IconPaperclip size={14} />}>
                {t.addFiles}
              </Button>
            )}
          </FileButton>
          <Text size="xs" c="dimmed">
            {t.dropHint}
          </Text>
        </Group>
      )}
    </Stack>
  );
}

/** The files that are in no comment, such as those of the report of a problem. */
export function RecordFiles({ recordId }: { recordId: string }) {
  const t = useText(fileTexts);
  const { data } = useQuery(attachmentsQuery(recordId));
  const files = data?.filter(({ commentId, draft }) => commentId === undefined && draft !== true) ?? [];
  return <FileTiles files={files} label={t.recordFiles} />;
}

function FileLine({ file, mayDelete }: { file: Attachment; mayDelete: boolean }) {
  const t = useText(texts);
  const tf = useText(fileTexts);
  const format = useFormats();
  const remove = useAction({
    run: () =>
      call<typeof attachments.archiveAttachment>('DELETE', `/attachments/${file.id}`, {
        body: { expectedRevision: file.revision },
      }),
    touches: [recordKey(file.objectId)],
  });
  const ask = async (): Promise<void> => {
    const title = t.deleteFile(file.originalFilename);
    if (await confirm({ title, body: t.deleteFileBody, yes: t.delete, danger: true })) remove.mutate();
  };
  return (
    <li className={classes.item}>
      <FileMark file={file} />
      <span className={classes.text}>
        <Anchor href={address(`/attachments/${file.id}/content`)} download={file.originalFilename} size="sm">
          {file.originalFilename}
        </Anchor>
        <small>
          {format.bytes(file.size)} · {file.createdBy?.displayName} · <Time at={file.createdAt} />
          {file.commentId !== undefined && ` · ${tf.inComment}`}
        </small>
      </span>
      {mayDelete && (
        <ActionIcon onClick={() => void ask()} aria-label={`${t.delete}: ${file.originalFilename}`}>
          <IconTrash size={15} />
        </ActionIcon>
      )}
    </li>
  );
}

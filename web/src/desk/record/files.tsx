/** Attachments of a record. */
import { ActionIcon, Anchor, Button, FileButton, Group, Loader, Stack, Text } from '@mantine/core';
import { IconFile, IconFileTypePdf, IconPaperclip, IconPhoto, IconTrash } from '@tabler/icons-react';
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
import type { Upload } from './files-upload.tsx';
import classes from './lists.module.css';

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
  if (error !== null) return <FaultAlert error={error} retry={() => void refetch()} />;
  return (
    <Stack gap="sm">
      {data === undefined && <Loader size="sm" />}
      {data?.length === 0 && upload.pending.length === 0 && <Empty>{t.noFiles}</Empty>}
      <ul className={classes.list}>
        {data?.map((file) => (
          <FileLine key={file.id} file={file} mayDelete={can('attachment.delete')} />
        ))}
        {upload.pending.map((name) => (
          <li key={name} className={classes.item} aria-live="polite">
            <Loader size={14} />
            <span>{t.uploading(name)}</span>
          </li>
        ))}
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

function FileLine({ file, mayDelete }: { file: Attachment; mayDelete: boolean }) {
  const t = useText(texts);
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
  const Sign = file.mediaType.startsWith('image/')
    ? IconPhoto
    : file.mediaType === 'application/pdf'
      ? IconFileTypePdf
      : IconFile;
  return (
    <li className={classes.item}>
      <Sign size={18} stroke={1.5} />
      <span className={classes.text}>
        <Anchor href={address(`/attachments/${file.id}/content`)} download={file.originalFilename} size="sm">
          {file.originalFilename}
        </Anchor>
        <small>
          {format.bytes(file.size)} · {file.createdBy?.displayName} · <Time at={file.createdAt} />
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

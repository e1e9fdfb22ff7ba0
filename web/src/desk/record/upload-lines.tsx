/** Uploads in a list of files: those that go on, and failed ones with the reason. */
import { ActionIcon, Button, Loader } from '@mantine/core';
import { IconAlertTriangle, IconX } from '@tabler/icons-react';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { fileTexts } from './file-texts.ts';
import { type Upload, type Uploading, useUploadFault } from './files-upload.tsx';
import classes from './lists.module.css';

export function UploadLines({ upload }: { upload: Upload }) {
  return upload.files.map((file) =>
    file.state === 'failed' ? (
      <FailedLine key={file.id} file={file} upload={upload} />
    ) : (
      <PendingLine key={file.id} file={file} />
    ),
  );
}

function PendingLine({ file }: { file: Uploading }) {
  const t = useText(fileTexts);
  const format = useFormats();
  return (
    <li className={classes.item} aria-live="polite">
      <Loader size={16} />
      <span className={classes.text}>
        {file.name}
        <small>
          {format.bytes(file.size)} · {file.state === 'waiting' ? t.waiting : t.uploading}
        </small>
      </span>
    </li>
  );
}

function FailedLine({ file, upload }: { file: Uploading; upload: Upload }) {
  const t = useText(fileTexts);
  const say = useUploadFault();
  return (
    <li className={classes.item} data-failed>
      <IconAlertTriangle size={18} stroke={1.5} />
      <span className={classes.text} role="alert">
        {t.notUploaded(file.name)}
        <small>{say(file.error)}</small>
      </span>
      <Button variant="default" size="compact-sm" onClick={() => upload.retry(file.id)}>
        {t.retry}
      </Button>
      <ActionIcon onClick={() => upload.remove(file.id)} aria-label={t.remove(file.name)} title={t.remove(file.name)}>
        <IconX size={15} />
      </ActionIcon>
    </li>
  );
}

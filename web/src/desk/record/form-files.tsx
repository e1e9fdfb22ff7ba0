/** Files that are chosen in the form of a new record. They are uploaded when the record is there. */
import { ActionIcon, Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { IconFile, IconPaperclip, IconX } from '@tabler/icons-react';
import { type ReactNode, useRef, useState } from 'react';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { useUnsavedWarning } from '../../ui/form.tsx';
import { texts } from '../texts.ts';
import { fileTexts } from './file-texts.ts';
import { DropZone, useStartUpload } from './files-upload.tsx';
import classes from './lists.module.css';
import recordClasses from './record.module.css';

interface FormFiles {
  chosen: readonly File[];
  set: (files: readonly File[]) => void;
  /** Uploads the files to the new record. The uploads go on while the user reads its page, which shows failed ones. */
  upload: (recordId: string) => void;
}

export function useFormFiles(): FormFiles {
  const [chosen, set] = useState<readonly File[]>([]);
  const sent = useRef(false);
  const start = useStartUpload();
  // Files cannot be kept on the device, unlike the text of the form.
  useUnsavedWarning(chosen.length > 0, () => sent.current);
  return {
    chosen,
    set: (files) => {
      sent.current = false;
      set(files);
    },
    upload: (recordId) => {
      start({ recordId, draft: false }, chosen);
      sent.current = true;
      set([]);
    },
  };
}

interface FormFilesZoneProps {
  enabled: boolean;
  files: FormFiles;
  children: ReactNode;
}

/** The form, which takes files that are dropped or pasted. */
export function FormFilesZone({ enabled, files, children }: FormFilesZoneProps) {
  return (
    <DropZone
      enabled={enabled}
      onFiles={(added) => files.set([...files.chosen, ...added])}
      className={recordClasses.zone}
    >
      {children}
    </DropZone>
  );
}

export function FormFileList({ files: { chosen, set } }: { files: FormFiles }) {
  const t = useText(fileTexts);
  const desk = useText(texts);
  const format = useFormats();
  return (
    <Stack gap="xs">
      {chosen.length > 0 && (
        <ul className={classes.list} aria-label={t.newFiles}>
          {chosen.map((file, index) => (
            // The same file can be chosen twice.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={`${index} ${file.name}`} className={classes.item}>
              <IconFile size={18} stroke={1.5} />
              <span className={classes.text}>
                {file.name}
                <small>{format.bytes(file.size)}</small>
              </span>
              <ActionIcon
                onClick={() => set(chosen.toSpliced(index, 1))}
                aria-label={t.remove(file.name)}
                title={t.remove(file.name)}
              >
                <IconX size={15} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      )}
      <Group gap="xs">
        <FileButton onChange={(added) => set([...chosen, ...added])} multiple>
          {(props) => (
            <Button {...props} variant="default" leftSection={<IconPaperclip size={14} />}>
              {desk.addFiles}
            </Button>
          )}
        </FileButton>
        <Text size="xs" c="dimmed">
          {t.chosenHint}
        </Text>
      </Group>
    </Stack>
  );
}

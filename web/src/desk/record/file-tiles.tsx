/** Files where they were said: images as pictures, others by name, all with their size and a download. */
import { ActionIcon, Anchor, Group, UnstyledButton } from '@mantine/core';
import { IconDownload, IconFile, IconFileTypePdf, IconPhoto } from '@tabler/icons-react';
import { useState } from 'react';
import { address } from '../../api/client.ts';
import type { Attachment } from '../../api/types.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { fileTexts } from './file-texts.ts';
import classes from './file-tiles.module.css';

/** The images that the service serves with their own type. */
const SHOWN: ReadonlySet<string> = new Set(['image/gif', 'image/jpeg', 'image/png', 'image/webp']);

type Content = Pick<Attachment, 'id' | 'mediaType'>;

const contentAddress = ({ id }: Content): string => address(`/attachments/${id}/content`);

const isPicture = ({ mediaType }: Content): boolean => SHOWN.has(mediaType);

/** A small picture of an image, else the icon of the type. */
export function FileMark({ file }: { file: Content }) {
  if (isPicture(file)) return <img className={classes.mark} src={contentAddress(file)} alt="" loading="lazy" />;
  const Sign = file.mediaType.startsWith('image/')
    ? IconPhoto
    : file.mediaType === 'application/pdf'
      ? IconFileTypePdf
      : IconFile;
  return <Sign size={18} stroke={1.5} />;
}

export function FileTiles({ files, label }: { files: readonly Attachment[]; label: string }) {
  const [opened, setOpened] = useState<Attachment>();
  if (files.length === 0) return null;
  return (
    <>
      <ul className={classes.tiles} aria-label={label}>
        {files.map((file) => (
          <Tile key={file.id} file={file} onOpen={() => setOpened(file)} />
        ))}
      </ul>
      <Dialog
        opened={opened !== undefined}
        onClose={() => setOpened(undefined)}
        size="auto"
        title={opened?.originalFilename}
      >
        {opened !== undefined && <Picture file={opened} />}
      </Dialog>
    </>
  );
}

function Tile({ file, onOpen }: { file: Attachment; onOpen: () => void }) {
  const t = useText(fileTexts);
  const format = useFormats();
  const name = file.originalFilename;
  return (
    <li className={classes.tile}>
      {isPicture(file) ? (
        <UnstyledButton onClick={onOpen} aria-label={t.open(name)} title={t.open(name)} className={classes.picture}>
          <img src={contentAddress(file)} alt="" loading="lazy" />
        </UnstyledButton>
      ) : (
        <FileMark file={file} />
      )}
      <span className={classes.name}>
        <span title={name}>{name}</span>
        <small>{format.bytes(file.size)}</small>
      </span>
      <ActionIcon
        component="a"
        href={contentAddress(file)}
        download={name}
        size="sm"
        aria-label={t.download(name)}
        title={t.download(name)}
      >
        <IconDownload size={15} />
      </ActionIcon>
    </li>
  );
}

function Picture({ file }: { file: Attachment }) {
  const t = useText(fileTexts);
  return (
    <>
      <img className={classes.whole} src={contentAddress(file)} alt={file.originalFilename} />
      <Group justify="flex-end" mt="xs">
        <Anchor href={contentAddress(file)} download={file.originalFilename} size="sm">
          {t.downloadShort}
        </Anchor>
      </Group>
    </>
  );
}

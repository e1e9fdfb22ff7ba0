/** Hands what a table shows to the person as a CSV file. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useText } from '../i18n/text.ts';
import { saveCsv } from './csv.ts';
import { texts } from './texts.ts';

interface CsvButtonProps {
  /** The name of the file, without its ending. */
  name: string;
  header: readonly string[];
  /** Asked for when somebody presses the button. */
  rows: () => readonly (readonly unknown[])[];
}

export function CsvButton({ name, header, rows }: CsvButtonProps) {
  const t = useText(texts);
  return (
    <Tooltip label={t.export}>
      <ActionIcon onClick={() => saveCsv(name, header, rows())} aria-label={t.export}>
        <IconDownload size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

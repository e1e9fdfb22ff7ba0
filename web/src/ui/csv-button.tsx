/** A button that downloads the rows of a table as CSV. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useText } from '../i18n/text.ts';
import { saveCsv } from './csv.ts';
import { texts } from './texts.ts';

interface CsvButtonProps {
  /** File name without extension. */
  name: string;
  header: readonly string[];
  /** Called when the button is pressed. */
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

/** Downloads of files that are created in the browser, and the button that exports the rows of a table. */
import { ActionIcon } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useText } from '../i18n/text.ts';
import { toCsv } from './csv.ts';
import { texts } from './texts.ts';

/** Downloads a file. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function saveCsv(name: string, header: readonly string[], rows: readonly (readonly unknown[])[]): void {
  // With the byte order mark, spreadsheets detect UTF-8.
  saveFile(`${name}.csv`, new Blob([`\uFEFF${toCsv(header, rows)}`], { type: 'text/csv;charset=utf-8' }));
}

interface CsvButtonProps {
  /** File name without extension. */
  name: string;
  header: readonly string[];
  /** Called when the button is pressed. */
  rows: () => readonly (readonly unknown[])[];
}

/** A button that downloads the rows of a table as CSV. */
export function CsvButton({ name, header, rows }: CsvButtonProps) {
  const t = useText(texts);
  return (
    <ActionIcon onClick={() => saveCsv(name, header, rows())} aria-label={t.export} title={t.export}>
      <IconDownload size={16} />
    </ActionIcon>
  );
}

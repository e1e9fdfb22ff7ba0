/** Downloads of files that are created in the browser. */
import { toCsv } from './csv-text.ts';

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

/** Files that the page makes and hands to the person. */
import { toCsv } from './csv-text.ts';

/** Hands a file to the person. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function saveCsv(name: string, header: readonly string[], rows: readonly (readonly unknown[])[]): void {
  // The mark at the beginning tells spreadsheets that this is UTF-8.
  saveFile(`${name}.csv`, new Blob([`\uFEFF${toCsv(header, rows)}`], { type: 'text/csv;charset=utf-8' }));
}

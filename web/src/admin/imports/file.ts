/** Reads import files: text in UTF-8 or in a legacy spreadsheet encoding. */

/** @throws TypeError if the file is text in neither encoding */
export async function textOf(file: File): Promise<string> {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1251', { fatal: true }).decode(bytes);
  }
}

/** Column names: from the first line of a CSV, or the keys of the objects in a JSON array. */
export function columnsOf(text: string): string[] {
  const trimmed = text.trimStart();
  if (trimmed.startsWith('[')) {
    try {
      const rows = JSON.parse(trimmed) as unknown[];
      const keys = rows
        .slice(0, 50)
        .flatMap((row) => (typeof row === 'object' && row !== null ? Object.keys(row) : []));
      return [...new Set(keys)];
    } catch {
      return [];
    }
  }
  const line = trimmed.split(/\r?\n/, 1)[0] ?? '';
  const separator = [';', '\t', ','].sort((a, b) => line.split(b).length - line.split(a).length)[0] ?? ',';
  const cells = line.match(new RegExp(`"(?:[^"]|"")*"|[^${separator}]+`, 'g')) ?? [];
  const names = cells.map((cell) => cell.trim().replace(/^"|"$/g, '').replaceAll('""', '"').trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

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

/** The first rows of the file as column → text; JSON values that are not text are written as JSON. */
export function firstRows(text: string, most = 20): Record<string, string>[] {
  const trimmed = text.trimStart();
  if (trimmed.startsWith('[')) {
    try {
      return (JSON.parse(trimmed) as unknown[])
        .slice(0, most)
        .map((row) =>
          Object.fromEntries(
            Object.entries(row ?? {}).map(([key, value]) => [
              key,
              typeof value === 'string' ? value : JSON.stringify(value),
            ]),
          ),
        );
    } catch {
      return [];
    }
  }
  const separator = separatorOf(trimmed.split(/\r?\n/, 1)[0] ?? '');
  const [header = [], ...rows] = records(trimmed, separator, most + 1);
  return rows.map((cells) => Object.fromEntries(header.map((name, at) => [name.trim(), cells[at] ?? ''])));
}

/** The first records of a CSV; quoted cells may hold separators and line ends. */
function records(text: string, separator: string, most: number): string[][] {
  const found: string[][] = [];
  let row: string[] = [];
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${separator}\\r\\n]*)(${separator}|\\r?\\n|$)`, 'gy');
  for (let match = cell.exec(text); match !== null && found.length < most; match = cell.exec(text)) {
    const [, raw = '', end = ''] = match;
    row.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw);
    if (end !== separator) {
      found.push(row);
      row = [];
    }
    if (end === '') break;
  }
  return found.filter((cells) => cells.some((one) => one !== ''));
}

function separatorOf(line: string): string {
  return [';', '\t', ','].sort((a, b) => line.split(b).length - line.split(a).length)[0] ?? ',';
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
  const separator = separatorOf(line);
  const cells = line.match(new RegExp(`"(?:[^"]|"")*"|[^${separator}]+`, 'g')) ?? [];
  const names = cells.map((cell) => cell.trim().replace(/^"|"$/g, '').replaceAll('""', '"').trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

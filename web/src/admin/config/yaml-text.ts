/** Between the text of one item and a bundle of which it is the only content, and between its text and its value. */
import { isMap, parseDocument } from 'yaml';
import type { BundleBody, Flaw, LocalizedText } from './queries.ts';

export type ItemValue = Readonly<Record<string, unknown>>;
export type Path = readonly (string | number)[];

const FILE = 'item.yaml';

export interface Shape {
  section: string;
  /** One mapping for the whole section (settings); else a list of items. */
  map?: boolean;
}

/** Lines and columns by which the item is shifted in its bundle. */
function shift(shape: Shape): { lines: number; columns: number } {
  return shape.map === true ? { lines: 1, columns: 2 } : { lines: 2, columns: 4 };
}

/** The bundle that holds this item alone. Applying it leaves memberships and assignments exactly as it says. */
export function bundleOf(shape: Shape, text: string): BundleBody {
  const { columns } = shift(shape);
  const pad = ' '.repeat(columns);
  const body = text
    .split('\n')
    .map((line) => (line.trim() === '' ? '' : pad + line))
    .join('\n');
  const head = shape.map === true ? `${shape.section}:\n` : `${shape.section}:\n  -\n`;
  return { files: [{ name: FILE, text: head + body }], exact: true };
}

/** A flaw of that bundle, at its place in the text of the item. */
export function flawInItem(shape: Shape, flaw: Flaw): Flaw {
  if (flaw.file !== FILE || flaw.line === null) return flaw;
  const { lines, columns } = shift(shape);
  const inside = flaw.at.replace(/^[^.[]+(?:\[\d+\])?\.?/, '');
  return {
    ...flaw,
    at: inside,
    line: Math.max(1, flaw.line - lines),
    column: flaw.line <= lines ? 1 : Math.max(1, (flaw.column ?? 1) - columns),
  };
}

/** The value of a text; undefined where it cannot be read or is no mapping. */
export function valueOf(text: string): ItemValue | undefined {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined;
  try {
    return document.toJS({ maxAliasCount: 100 }) as ItemValue;
  } catch {
    return undefined;
  }
}

/** The text with another value at the path; undefined takes it out. Comments and the rest of the text stay. */
export function edited(text: string, path: Path, value: unknown): string {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  if (value === undefined) document.deleteIn(path);
  else document.setIn(path, document.createNode(value));
  return document.toString({ lineWidth: 0 });
}

/** A name in a language, as far as there is one. */
export function nameIn(name: unknown, language: string): string {
  if (typeof name === 'string') return name;
  if (typeof name !== 'object' || name === null) return '';
  const names = name as Exclude<LocalizedText, string>;
  return names[language] ?? Object.values(names)[0] ?? '';
}

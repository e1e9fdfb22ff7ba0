/** Converts between the text of an item, a bundle that contains only this item, and its parsed value. */
import { isMap, isSeq, parseDocument, stringify } from 'yaml';
import { type CodeContext, followCode, type ItemValue, type Path } from './codes.ts';
import type { BundleBody, Problem } from './queries.ts';

export { nameIn } from '../../i18n/text.ts';
export type { ItemValue, Path };

const FILE = 'item.yaml';

export interface Shape {
  section: string;
  /** True if the section is one mapping (settings); else it is a list of items. */
  map?: boolean;
}

/** Offset of the item's text in its bundle, in lines and columns. */
function shift(shape: Shape): { lines: number; columns: number } {
  return shape.map === true ? { lines: 1, columns: 2 } : { lines: 2, columns: 4 };
}

/** A bundle that contains only this item. Applying it sets memberships and assignments exactly as in the text. */
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

/** Converts an error position in that bundle to a position in the text of the item. */
export function problemInItem(shape: Shape, problem: Problem): Problem {
  if (problem.file !== FILE || problem.line === null) return problem;
  const { lines, columns } = shift(shape);
  const inside = problem.at.replace(/^[^.[]+(?:\[\d+\])?\.?/, '');
  return {
    ...problem,
    at: inside,
    line: Math.max(1, problem.line - lines),
    column: problem.line <= lines ? 1 : Math.max(1, (problem.column ?? 1) - columns),
  };
}

/** The parsed value of a text; undefined if it is invalid, and neither a mapping nor a list. */
export function valueOf(text: string): ItemValue | undefined {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  const { contents, errors } = document;
  if (errors.length > 0 || !(isMap(contents) || isSeq(contents))) return undefined;
  try {
    return document.toJS({ maxAliasCount: 100 }) as ItemValue;
  } catch {
    return undefined;
  }
}

/**
 * Sets a value at a path of the text, or the whole text; undefined removes a part. Comments and the other content are kept. With `codes`, the code of
 * a new part follows its name.
 */
export function edited(text: string, path: Path, value: unknown, codes?: CodeContext): string {
  if (path.length === 0) return stringify(value, { lineWidth: 0 });
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  const before: unknown = codes === undefined ? undefined : document.toJS({ maxAliasCount: 100 });
  if (value === undefined) document.deleteIn(path);
  else document.setIn(path, document.createNode(value));
  if (codes !== undefined) followCode(document, before, path, value, codes);
  return document.toString({ lineWidth: 0 });
}

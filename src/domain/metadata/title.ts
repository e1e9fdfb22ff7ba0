/** The title of a record, from the type's title field. */
import { plainText } from './values.ts';
import type { TypeVersion } from './registry.ts';

const LONGEST = 1000;

export function titleText(version: TypeVersion, values: Record<string, unknown>): string | null {
  if (version.titleField === null) return null;
  const field = version.fields.get(version.titleField);
  const value = values[version.titleField];
  if (field === undefined || value === undefined) return null;
  const text = plainText(field, value);
  if (text === '') return null;
  // Cut by code points, so that no surrogate pair is split.
  return text.length <= LONGEST ? text : [...text].slice(0, LONGEST).join('');
}

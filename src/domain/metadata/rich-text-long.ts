/** Parses long rich texts of a request in a worker thread, before all values are checked together. */
import { pointer } from '../../lib/json.ts';
import { problemAt } from '../../lib/problem.ts';
import { type ThreadTask, threads } from '../../platform/threads.ts';
import { checkRichText, ReadRichText, type RichTextCheck } from './rich-text.ts';
import type { InlineImage } from './rich-text-images.ts';

interface Given {
  /** The value as JSON. */
  json: string;
  path: string;
}

/** A `RichTextCheck` as JSON, because passing a string between threads costs the event loop least, and its images. */
interface Travelling {
  json: string;
  images: readonly InlineImage[];
}

/** Sizes are in characters. The slowest texts take about 1.2 microseconds per character. */
export const readRichTextTask: ThreadTask<Given, Travelling> = {
  name: 'metadata.rich-text',
  inline: 16_000,
  run: ({ json, path }) => {
    const checked = checkRichText(JSON.parse(json), path);
    if (!checked.ok) return { json: JSON.stringify(checked), images: [] };
    return { json: JSON.stringify({ ...checked, images: [] }), images: checked.images };
  },
};

/**
 * Returns the values with long rich texts parsed; the others are unchanged.
 *
 * @param isRich whether the field is a rich text that the caller may name
 * @param member the member of the request body that holds the values
 * @throws Fault OVERLOADED when too many long texts are waiting
 */
export async function withLongTextsRead(
  given: Record<string, unknown>,
  isRich: (code: string) => boolean,
  member: string,
  caller: string | null,
): Promise<Record<string, unknown>> {
  const read: Record<string, unknown> = {};
  for (const code of Object.keys(given)) {
    const value = given[code];
    const rich = (typeof value === 'string' || (typeof value === 'object' && value !== null)) && isRich(code);
    const long = rich && !(typeof value === 'string' && value.length <= readRichTextTask.inline);
    if (long) read[code] = await readLong(value, pointer(member, code), caller);
  }
  return Object.keys(read).length === 0 ? given : { ...given, ...read };
}

async function readLong(value: unknown, path: string, caller: string | null): Promise<unknown> {
  const json = JSON.stringify(value);
  if (json.length <= readRichTextTask.inline) return value;
  const result = await threads.run(readRichTextTask, { json, path }, { size: json.length, caller });
  if (!result.ok) {
    return new ReadRichText({ ok: false, problems: [problemAt(path, 'DOCUMENT_TOO_COMPLEX')] });
  }
  const checked = JSON.parse(result.value.json) as RichTextCheck;
  return new ReadRichText(checked.ok ? { ...checked, images: result.value.images } : checked);
}

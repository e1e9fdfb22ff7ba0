/** Layout of record fields: long fields in the main column, short ones in the sidebar. */
import type { FieldSchema } from '../../api/types.ts';

const LONG = new Set(['text', 'rich-text', 'json']);

export interface Layout {
  title: FieldSchema | undefined;
  long: FieldSchema[];
  short: FieldSchema[];
}

export function layoutOf(fields: readonly FieldSchema[], titleField: string | null | undefined): Layout {
  const title = fields.find((field) => field.code === titleField);
  const rest = fields.filter((field) => field !== title);
  return {
    title,
    long: rest.filter((field) => LONG.has(field.dataType)),
    short: rest.filter((field) => !LONG.has(field.dataType)),
  };
}

/** Layout of record fields: long fields in the main column, short ones in the sidebar. */
import type { FieldSchema } from '../../api/types.ts';
import { layoutOf } from '../../fields/view.ts';

export interface Layout {
  title: FieldSchema | undefined;
  long: FieldSchema[];
  short: FieldSchema[];
}

export function recordLayout(fields: readonly FieldSchema[], titleField: string | null | undefined): Layout {
  const title = fields.find((field) => field.code === titleField);
  const rest = fields.filter((field) => field !== title);
  return {
    title,
    long: rest.filter((field) => layoutOf(field.dataType).long === true),
    short: rest.filter((field) => layoutOf(field.dataType).long !== true),
  };
}

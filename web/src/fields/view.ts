/** What the console needs to know about data types, from the descriptors that it shares with the server. */
import { descriptorOf, isDataType, type View } from '../../../src/lib/data-types/index.ts';

/** The descriptor of a data type. A type of a newer service, or a mistyped one in a bundle, is treated as `string`. */
export function typeOf(dataType: string): ReturnType<typeof descriptorOf> {
  return descriptorOf(isDataType(dataType) ? dataType : 'string');
}

interface Layout {
  /** Width of a list column in rem. */
  width: number;
  /** The value may need many lines, so it stands in the main column of a record. */
  long?: boolean;
}

const DEFAULT: Layout = { width: 12 };

/** Layouts that differ from the default. */
const LAYOUTS: Readonly<Partial<Record<View, Layout>>> = {
  lines: { width: 12, long: true },
  'rich-text': { width: 12, long: true },
  json: { width: 12, long: true },
  integer: { width: 6 },
  decimal: { width: 7 },
  boolean: { width: 5 },
  date: { width: 8 },
  datetime: { width: 11 },
  time: { width: 5 },
  duration: { width: 7 },
  choice: { width: 7.5 },
  reference: { width: 10.5 },
};

export function layoutOf(dataType: string): Layout {
  return LAYOUTS[typeOf(dataType).view] ?? DEFAULT;
}

/** The data types of fields (docs/spec/records.md#values). */
export const DATA_TYPES = [
  'string',
  'text',
  'rich-text',
  'integer',
  'decimal',
  'boolean',
  'date',
  'datetime',
  'duration',
  'enum',
  'reference',
  'user',
  'group',
  'org-unit',
  'service',
  'url',
  'email',
  'phone',
  'time',
  'json',
] as const;

export type DataType = (typeof DATA_TYPES)[number];

/** Types whose stored value is the id of another item. */
export const ID_TYPES: ReadonlySet<DataType> = new Set(['reference', 'user', 'group', 'org-unit', 'service']);

/** Types that have a folded copy for `contains` and `starts-with` (docs/spec/search.md#condition-language). */
export const TEXT_TYPES: ReadonlySet<DataType> = new Set(['string', 'text', 'rich-text', 'url', 'email', 'phone']);

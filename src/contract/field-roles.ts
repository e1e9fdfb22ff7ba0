/** What a field of a type is for (docs/spec/configuration.md#roles-of-fields). Features look for the role, never for a code. */
import type { DataType } from '../lib/data-types/index.ts';

export const FIELD_ROLES = [
  'assignee',
  'group',
  'requester',
  'participants',
  'priority',
  'solution',
  'due',
  'start',
  'end',
  'item',
  'commander',
  'communications',
] as const;
export type FieldRole = (typeof FIELD_ROLES)[number];

/** `multiple` left out: either will do. */
interface RoleShape {
  dataTypes: readonly DataType[];
  multiple?: boolean;
}

const person: RoleShape = { dataTypes: ['user'], multiple: false };
const moment: RoleShape = { dataTypes: ['datetime', 'date'], multiple: false };

const SHAPES: Record<FieldRole, RoleShape> = {
  assignee: person,
  group: { dataTypes: ['group'], multiple: false },
  requester: person,
  participants: { dataTypes: ['user'], multiple: true },
  priority: { dataTypes: ['enum', 'integer', 'reference'], multiple: false },
  solution: { dataTypes: ['text', 'rich-text', 'string'], multiple: false },
  due: moment,
  start: moment,
  end: moment,
  item: { dataTypes: ['reference'] },
  commander: person,
  communications: person,
};

/** The shape that the role asks for and the field lacks; undefined if the field can have the role. */
export function unmetShape(role: FieldRole, field: { dataType: DataType; multiple: boolean }): RoleShape | undefined {
  const { dataTypes, multiple = field.multiple } = SHAPES[role];
  return dataTypes.includes(field.dataType) && multiple === field.multiple ? undefined : SHAPES[role];
}

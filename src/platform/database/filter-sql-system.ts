/** Conditions on system fields, which are columns of the table of records (docs/spec/search.md#condition-language). */
import sql, { raw, type Sql } from 'sql-template-tag';
import { NUMBER_FOLDING } from '../../lib/filter-fields.ts';
import type { TypedLeaf } from '../../lib/filter.ts';
import {
  anyOf,
  type CompileEnvironment,
  type EqualityLeaf,
  equality,
  hasPart,
  inOrder,
  NEVER,
  type OperandType,
  present,
} from './filter-sql-environment.ts';
import { column } from './filter-sql-fields.ts';

interface SystemColumn {
  name: string;
  type: OperandType;
}

const COLUMNS: ReadonlyMap<string, SystemColumn> = new Map([
  ['id', { name: 'id', type: 'uuid' }],
  ['number', { name: 'number', type: 'text' }],
  ['title', { name: 'title', type: 'text' }],
  ['typeId', { name: 'type_id', type: 'uuid' }],
  ['typeCode', { name: 'type_id', type: 'uuid' }],
  ['state', { name: 'state', type: 'text' }],
  ['workflowState', { name: 'workflow_state_id', type: 'uuid' }],
  ['workflowCategory', { name: 'workflow_state_id', type: 'uuid' }],
  ['revision', { name: 'revision', type: 'bigint' }],
  ['createdAt', { name: 'created_at', type: 'timestamptz' }],
  ['createdBy', { name: 'created_by', type: 'uuid' }],
  ['updatedAt', { name: 'updated_at', type: 'timestamptz' }],
  ['updatedBy', { name: 'updated_by', type: 'uuid' }],
]);

/** Maps codes to ids, for fields that conditions name by code and the table stores by id. */
function idsOf(code: string, environment: CompileEnvironment): ((value: string) => readonly string[]) | undefined {
  switch (code) {
    case 'typeCode':
      return (value) => [environment.typeIdByCode(value)].filter((id) => id !== undefined);
    case 'workflowState':
      return (value) => environment.stateIdsByCode(value);
    case 'workflowCategory':
      return (value) => environment.stateIdsByCategory(value);
    default:
      return undefined;
  }
}

/** The folded text of a system field. The service stores the folded title under a key that no field code can have. */
function foldedText(code: string, environment: CompileEnvironment): Sql {
  if (code === 'title') return sql`(${column(environment.alias, 'folded')}->>'$title')`;
  return raw(
    `translate(${column(environment.alias, 'number').text}, '${NUMBER_FOLDING.from}', '${NUMBER_FOLDING.to}')`,
  );
}

function equalityOn(leaf: EqualityLeaf, key: Sql, type: OperandType, environment: CompileEnvironment): Sql {
  const ids = idsOf(leaf.field.code, environment);
  return equality(leaf, environment.variables, (operands) => {
    const keys = ids === undefined ? operands : operands.flatMap((code) => [...ids(String(code))]);
    return keys.length === 0 ? NEVER : present(key, anyOf(key, keys, type));
  });
}

/** The predicate of a condition on a system field; true or false on every row, never NULL. */
export function systemLeaf(leaf: TypedLeaf, environment: CompileEnvironment): Sql {
  const of = COLUMNS.get(leaf.field.code);
  if (of === undefined) throw new Error('not a system field');
  const key = column(environment.alias, of.name);
  switch (leaf.operator) {
    case 'is-empty':
      return leaf.value ? sql`(${key} IS NULL)` : sql`(${key} IS NOT NULL)`;
    case 'contains':
    case 'starts-with': {
      const folded = foldedText(leaf.field.code, environment);
      return present(folded, hasPart(leaf, folded));
    }
    case 'equals':
    case 'not-equals':
    case 'in':
      return equalityOn(leaf, key, of.type, environment);
    case 'before':
    case 'after':
    case 'range':
      return present(key, inOrder(leaf, environment.variables, key, of.type));
  }
}

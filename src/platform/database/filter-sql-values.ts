/**
 * Conditions on the fields of a type, whose values are stored as JSON in the table of records
 * (docs/spec/search.md#condition-language).
 */
import sql, { raw, type Sql } from 'sql-template-tag';
import { descriptorOf, isFolded } from '../../lib/data-types/index.ts';
import type { TypedField, TypedLeaf, Variables } from '../../lib/filter.ts';
import { ownMember } from '../../lib/json.ts';
import { fold } from '../../lib/text.ts';
import {
  anyOf,
  type CompileEnvironment,
  equality,
  hasPart,
  inOrder,
  present,
  type Scalar,
  type TextLeaf,
} from './filter-sql-environment.ts';
import { foldedJsonOf, foldedOf, jsonOf, keyFormOf, keyOf, TEXT_KEY_CHARS, textOf } from './filter-sql-fields.ts';

/** The predicate of a condition on a field of a type; true or false on every row, never NULL. */
export function valueLeaf(leaf: TypedLeaf, environment: CompileEnvironment): Sql {
  const json = jsonOf(leaf.field, environment.alias);
  if (leaf.operator === 'is-empty') {
    if (!leaf.value) return sql`(${json} IS NOT NULL)`;
    // The second condition follows from the first; it lets indexes on the key be used.
    const isKeyed = !leaf.field.multiple && descriptorOf(leaf.field.dataType).comparison === 'text';
    return isKeyed
      ? sql`(${json} IS NULL AND ${keyOf(leaf.field, environment.alias)} IS NULL)`
      : sql`(${json} IS NULL)`;
  }
  const { alias, variables } = environment;
  return leaf.field.multiple ? multipleLeaf(leaf, alias, variables) : singleLeaf(leaf, alias, variables);
}

type ValueLeaf = Exclude<TypedLeaf, { operator: 'is-empty' }>;

function singleLeaf(leaf: ValueLeaf, alias: string, variables: Variables): Sql {
  const { field } = leaf;
  const key = keyOf(field, alias);
  switch (leaf.operator) {
    case 'contains': {
      const folded = foldedOf(field, alias);
      return present(folded, hasPart(leaf, folded));
    }
    case 'starts-with':
      return startsWith(leaf, alias);
    case 'before':
    case 'after':
    case 'range':
      return present(key, inOrder(leaf, variables, key, keyFormOf(field).operand));
    default:
      return equality(leaf, variables, (operands) =>
        isFolded(field.dataType)
          ? sameText(field, alias, operands)
          : present(key, anyOf(key, asStored(field, operands), keyFormOf(field).operand)),
      );
  }
}

/** Options under the codes that are stored. */
function asStored({ optionsStoredAs }: TypedField, operands: readonly Scalar[]): readonly Scalar[] {
  if (optionsStoredAs === undefined) return operands;
  return operands.map((one) => (typeof one === 'string' ? ((ownMember(optionsStoredAs, one) as string) ?? one) : one));
}

/** Equal texts have equal folded prefixes, so the index on the prefix narrows the rows, which are then compared in full. */
function sameText(field: TypedField, alias: string, operands: readonly Scalar[]): Sql {
  const key = keyOf(field, alias);
  const text = textOf(field, alias);
  const keys = [...new Set(operands.map((operand) => beginning(fold(String(operand)))))];
  return present(key, present(text, sql`${anyOf(key, keys, 'text')} AND ${anyOf(text, operands, 'text')}`));
}

/** The first characters of a text, counted like PostgreSQL's `left`. */
function beginning(text: string): string {
  return text.length <= TEXT_KEY_CHARS ? text : [...text].slice(0, TEXT_KEY_CHARS).join('');
}

/**
 * The texts with a prefix form a range of the key: from the prefix to the smallest text above all of them. If the prefix is
 * longer than the key, the key must be equal, and the whole text is compared.
 */
function startsWith(leaf: TextLeaf, alias: string): Sql {
  const key = keyOf(leaf.field, alias);
  const head = beginning(leaf.value);
  if (head !== leaf.value) {
    const folded = foldedOf(leaf.field, alias);
    return present(folded, sql`${key} = ${head}::text AND ${hasPart(leaf, folded)}`);
  }
  const above = leastAbove(leaf.value);
  return present(
    key,
    above === undefined ? sql`${key} >= ${head}::text` : sql`${key} >= ${head}::text AND ${key} < ${above}::text`,
  );
}

/**
 * The smallest text, by code point, above every text with the prefix; undefined if the prefix only consists of the highest code
 * point.
 */
function leastAbove(prefix: string): string | undefined {
  const points = Array.from(prefix, (char) => char.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    // The code points between U+D7FF and U+E000 are surrogates.
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return String.fromCodePoint(...points, next);
  }
  return undefined;
}

function multipleLeaf(leaf: ValueLeaf, alias: string, variables: Variables): Sql {
  const { field } = leaf;
  const json = jsonOf(field, alias);
  switch (leaf.operator) {
    case 'contains':
    case 'starts-with':
      return someElement(foldedJsonOf(field, alias), hasPart(leaf, ELEMENT));
    case 'before':
    case 'after':
    case 'range': {
      const key = raw(keyFormOf(field).ofElement(ELEMENT.text));
      return someElement(json, inOrder(leaf, variables, key, keyFormOf(field).operand));
    }
    default:
      return equality(leaf, variables, (operands) => {
        const lists = asStored(field, operands).map((operand) => JSON.stringify([operand]));
        return present(
          json,
          lists.length === 1 ? sql`${json} @> ${lists[0]}::jsonb` : sql`${json} @> ANY(${lists}::jsonb[])`,
        );
      });
  }
}

const ELEMENT = raw('element.value');

/** Whether the predicate is true for an element of a list. Values that are not lists have no elements. */
function someElement(list: Sql, predicate: Sql): Sql {
  return sql`(EXISTS (SELECT FROM jsonb_array_elements_text(CASE WHEN jsonb_typeof(${list}) = 'array' THEN ${list}
    ELSE '[]'::jsonb END) AS element (value) WHERE ${predicate}))`;
}

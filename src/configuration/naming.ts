/** What the schemas of sections say about the codes in them, and what a mapping of codes asks and finds (`names.ts`). */
import { isObject } from '../lib/json.ts';

/**
 * What a code or a value in a schema means. `field`, `transition`, `condition`, `set`, `template` (a text with placeholders),
 * `transforms` and `groups` (of a report) refer to the record types in scope, `value` to the field itself, and `node` to a part of
 * the same item. Placeholders in the texts of a `filledSet` refer to the types of the scope
 * around it. With `listed`, a field is named and nothing depends on its values (`field-places.ts`). `own` is a property that gives
 * the field it stands in a meaning.
 */
export type Names =
  | { kind: 'item'; section: string }
  | { kind: 'node'; part: string }
  | { kind: 'field'; listed?: true }
  | {
      kind: 'own' | 'transition' | 'value' | 'condition' | 'set' | 'filledSet' | 'template' | 'transforms' | 'groups';
    };

/** A list element that has a code of its own and may be renamed. */
export type PartKind = 'field' | 'option' | 'state' | 'transition' | 'node';

type Path = readonly (string | number)[];

/** A JSON schema with the annotations of this file. */
export interface NamingSchema {
  type?: string | string[];
  const?: unknown;
  anyOf?: NamingSchema[];
  items?: NamingSchema;
  uniqueItems?: boolean;
  properties?: Record<string, NamingSchema>;
  names?: Names;
  part?: PartKind;
  /**
   * The property with the codes of the record types that fields and conditions inside refer to. Without a value: all types, with
   * `typesNeeded` none.
   */
  typesAt?: string;
  typesNeeded?: true;
}

/** A value that names something, as `mapNames` finds it. */
export interface NamedPlace {
  names: Names;
  value: unknown;
  path: Path;
  /** Codes of the record types in scope. */
  types: readonly string[];
  /** Those of the scope around it, which texts of a `filledSet` refer to. */
  outerTypes: readonly string[];
  /** Path of the enclosing part or item (`Codes`), such as `types/incident/fields/impact`. */
  at: string;
}

/** What renames mean for a definition that names things of several record types, apart from new codes. */
export interface RenameEffects {
  /** Lists and conditions that cover a part of the item, and did not cover it before the renames. */
  gained: { path: Path; section: string; item: string; from: string; to: string }[];
  /** Places with one code for several types, of which only some were renamed. */
  split: { path: Path; codes: string[] }[];
}

/** Whether the value has the shape of this branch of a union. */
export function fits(schema: NamingSchema, value: unknown): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some((branch) => fits(branch, value));
  if (Array.isArray(value)) return schema.type === 'array';
  if (isObject(value))
    return schema.type === 'object' || ['condition', 'set', 'filledSet'].includes(schema.names?.kind ?? '');
  return schema.type === typeof value && schema.const === undefined;
}

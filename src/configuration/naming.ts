/** What the schemas of sections say about the codes in them, and what a mapping of codes asks and finds (`names.ts`). */
import type { DataType } from '../lib/data-types/index.ts';
import { isObject } from '../lib/json.ts';

/**
 * What a code or a value in a schema means. `field`, `transition`, `condition`, `set`, `template` (a text with placeholders),
 * `transforms` and `groups` (of a report) refer to the record types in scope, `state` to the workflow itself, `value` to the
 * field itself, and `node` to a part of the same item. Placeholders in the texts of a `filledSet` refer to the types of the scope
 * around it. With `listed`, a field is named and nothing depends on its values (`field-places.ts`). `own` is a property that gives
 * the field it stands in a meaning.
 */
export type Names =
  | { kind: 'item'; section: string }
  | { kind: 'node'; part: string }
  | { kind: 'field'; listed?: true }
  | {
      kind:
        | 'own'
        | 'transition'
        | 'state'
        | 'value'
        | 'condition'
        | 'set'
        | 'filledSet'
        | 'template'
        | 'transforms'
        | 'groups';
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
  /** Code of the enclosing field, in the definition of a type. */
  field: string | undefined;
}

/** The current codes of things, by codes in the definitions that are mapped. */
export interface CurrentCodes {
  item(section: string, code: string): string;
  /** The code of a record type that is named by its code or id. */
  typeCode(type: string): string;
  /** Codes of all record types. */
  types(): readonly string[];
  /** Types that use the workflow in any of their versions. */
  typesUsing(workflow: string): readonly string[];
  workflowsOf(type: string): readonly string[];
  /** Undefined if the type has no such field. */
  field(type: string, code: string): CurrentField | undefined;
  /** Undefined if the workflow has no such state or transition. */
  state(workflow: string, code: string): string | undefined;
  transition(workflow: string, code: string): string | undefined;
  /** A part of an item of another kind, such as a category of a catalogue. */
  node(section: string, item: string, part: string, code: string): string;
  /** The former code of the part of a type or workflow that has the code now; undefined if none has it. */
  origin(section: 'types' | 'workflows', item: string, list: PartsList, code: string): string | undefined;
}

/** A list of parts; options are those of the field with this former code. */
export type PartsList = 'fields' | 'states' | 'transitions' | { optionsOf: string };

/** What renames mean for a definition that names things of several record types, apart from new codes. */
export interface RenameEffects {
  /** Lists and conditions that cover a part of the item, and did not cover it before the renames. */
  gained: { path: Path; section: 'types' | 'workflows'; item: string; from: string; to: string }[];
  /** Places with one code for several types, of which only some were renamed. */
  split: { path: Path; codes: string[] }[];
}

export interface CurrentField {
  code: string;
  dataType: DataType;
  option(code: string): string;
}

/** Whether the value has the shape of this branch of a union. */
export function fits(schema: NamingSchema, value: unknown): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some((branch) => fits(branch, value));
  if (Array.isArray(value)) return schema.type === 'array';
  if (isObject(value))
    return schema.type === 'object' || ['condition', 'set', 'filledSet'].includes(schema.names?.kind ?? '');
  return schema.type === typeof value && schema.const === undefined;
}

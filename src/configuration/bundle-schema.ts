/**
 * The JSON Schema (draft 07) of a file of a bundle, for editors (docs/spec/configuration.md#bundle). It is derived from the
 * schemas that check bundles: what they refuse, it refuses. Only conditions are described more closely, because their grammar
 * is checked by the parser of the condition language.
 */
import { OPERATORS } from '../lib/filter.ts';
import { FILTER_LIMITS } from '../lib/filter-types.ts';
import type { JsonSchema } from '../lib/json-schema.ts';
import { problem } from '../lib/problem.ts';
import { AudienceSchema } from './audience.ts';
import { ConditionSchema, Description, WasCode, WasFieldCode, WasOption } from './schemas.ts';
import { Code, FieldCode, LocaleCode, Name } from '../contract/schemas.ts';
import type { ConfigSection } from './section.ts';

interface EditorSchema extends Omit<JsonSchema, 'allOf' | 'anyOf' | 'items' | 'properties'> {
  $schema?: string;
  title?: string;
  description?: string;
  /** Shown by editors in place of the pattern. */
  patternErrorMessage?: string;
  definitions?: Record<string, EditorSchema>;
  allOf?: EditorSchema[];
  anyOf?: EditorSchema[];
  items?: EditorSchema;
  properties?: Record<string, EditorSchema>;
}

const refTo = (name: string): EditorSchema => ({ $ref: `#/definitions/${name}` });

/** Annotations for renames (`names.ts`), which say nothing to editors. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['names', 'part', 'typesAt', 'typesNeeded']);

const textOf = (schema: object): string =>
  JSON.stringify(Object.fromEntries(Object.entries(schema).filter(([key]) => !ANNOTATIONS.has(key))));

function plainTextOf(schema: object): string {
  const { description: _own, ...plain } = schema as { description?: string };
  return textOf(plain);
}

/**
 * Shapes that occur often, by their text without the description: a reference replaces them. Their definitions have no
 * description, because editors show it in place of the one beside the reference.
 */
const SHAPES: ReadonlyMap<string, string> = new Map([
  [plainTextOf(Code), 'code'],
  [plainTextOf(FieldCode), 'fieldCode'],
  [plainTextOf(LocaleCode), 'locale'],
  [plainTextOf(Name), 'text'],
  [plainTextOf(Description), 'longText'],
  [plainTextOf(ConditionSchema), 'condition'],
]);

/** Properties that occur often, by their text with the description. */
const PROPERTIES: ReadonlyMap<string, string> = new Map([
  [textOf(Code), 'ownCode'],
  [textOf(FieldCode), 'ownFieldCode'],
  [textOf(Name), 'name'],
  [textOf(Description), 'description'],
  [textOf(WasCode), 'was'],
  [textOf(WasFieldCode), 'wasField'],
  [textOf(WasOption), 'wasOption'],
  [textOf(AudienceSchema), 'audience'],
]);

const CONDITION: EditorSchema = {
  anyOf: [
    {
      type: 'object',
      properties: {
        field: { type: 'string', description: 'Code of a field, or a system field such as workflowState.' },
        operator: { enum: OPERATORS, description: 'How the value of the field is compared with `value`.' },
        value: {
          description:
            'A value, a list for in, {from, to} for range, or a variable such as $me, $myGroups or $now-P7D.',
        },
      },
      required: ['field', 'operator'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        logic: { enum: ['AND', 'OR'], description: 'AND: all conditions must hold; OR: at least one of them.' },
        conditions: {
          type: 'array',
          description: 'The conditions of the group, which can be groups themselves.',
          items: refTo('condition'),
          minItems: 1,
          maxItems: FILTER_LIMITS.groupConditions,
        },
      },
      required: ['logic', 'conditions'],
      additionalProperties: false,
    },
  ],
};

const isList = Array.isArray;

/** The same schema in draft 07, with references to shared parts and messages for patterns. */
function edited(schema: JsonSchema, whole: 'shape' | 'property' | undefined = undefined): EditorSchema {
  const property = whole === undefined ? PROPERTIES.get(textOf(schema)) : undefined;
  if (property !== undefined) return refTo(property);
  const { description } = schema as EditorSchema;
  const said = description === undefined ? {} : { description };
  const shape = whole === 'shape' ? undefined : SHAPES.get(plainTextOf(schema));
  // In draft 07 nothing counts beside a reference.
  if (shape !== undefined) return description === undefined ? refTo(shape) : { ...said, allOf: [refTo(shape)] };
  const { phrase, anyOf, ...rest } = schema;
  const values = anyOf?.map((one) => one.const);
  if (values?.every((value) => value !== undefined) === true) return { ...said, enum: values };
  const written: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(rest)) {
    if (ANNOTATIONS.has(key)) continue;
    if (key === 'properties' || key === 'patternProperties') {
      const members = Object.entries(value as Record<string, JsonSchema>);
      written[key] = Object.fromEntries(members.map(([name, member]) => [name, edited(member)]));
    } else if (key === 'items' || (key === 'additionalProperties' && typeof value === 'object')) {
      written[key] = edited(value as JsonSchema);
    } else if (isList(value) && (key === 'oneOf' || key === 'allOf')) {
      written[key] = value.map((one) => edited(one as JsonSchema));
    } else written[key] = value;
  }
  if (anyOf !== undefined) written['anyOf'] = anyOf.map((one) => edited(one));
  if (phrase !== undefined && schema.pattern !== undefined) {
    const { pattern } = schema;
    written['patternErrorMessage'] = problem('FORMAT_MISMATCH', { expected: phrase, pattern }).message;
  }
  return written as EditorSchema;
}

function sectionSchema({ key, shape, summary }: ConfigSection): EditorSchema {
  if (shape === 'map') return { description: summary, allOf: [refTo(key)] };
  // `types:` without a value is an empty list.
  return { description: summary, type: ['array', 'null'], items: refTo(key) };
}

/** The schema of one file of a bundle with these sections. */
export function bundleSchema(sections: readonly ConfigSection[]): EditorSchema {
  const definitions: Record<string, EditorSchema> = {};
  for (const [text, name] of SHAPES) definitions[name] = edited(JSON.parse(text) as JsonSchema, 'shape');
  for (const [text, name] of PROPERTIES) definitions[name] = edited(JSON.parse(text) as JsonSchema, 'property');
  definitions['condition'] = CONDITION;
  for (const section of sections) {
    if (Object.hasOwn(definitions, section.key)) throw new Error(`the section ${section.key} has the name of a part`);
    definitions[section.key] = edited(section.schema as JsonSchema);
  }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Docket configuration',
    description: 'A file of a bundle. Lists of the same key in several files are joined.',
    type: ['object', 'null'],
    properties: Object.fromEntries(sections.map((section) => [section.key, sectionSchema(section)])),
    additionalProperties: false,
    definitions,
  };
}

/** The schema as the text of a file. */
export function bundleSchemaText(sections: readonly ConfigSection[]): string {
  return `${JSON.stringify(bundleSchema(sections), null, 2)}\n`;
}

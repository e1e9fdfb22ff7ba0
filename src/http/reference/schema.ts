/** Renders the JSON Schemas of the OpenAPI documents as HTML lists. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

/** Maximum nesting that is rendered inline. Named schemas are linked instead. */
const DEEPEST = 5;

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Escapes a description and renders its `code` spans. */
export function prose(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

export function nameOf(schema: Schema): string | undefined {
  return schema.$ref?.split('/').at(-1);
}

function link(name: string): string {
  return `<a href="#schema-${escapeHtml(name)}">${escapeHtml(name)}</a>`;
}

function literal(value: unknown): string {
  return `<code>${escapeHtml(JSON.stringify(value))}</code>`;
}

/** A short form of the type: `array of <Comment>`, `string, date-time`, `"public" or "internal"`. */
export function typeOf(schema: Schema): string {
  const name = nameOf(schema);
  if (name !== undefined) return link(name);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' or ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ');
  if (schema.type === 'array') return `array of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`;
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'anything');
  return schema.format === undefined ? type : `${type}, ${escapeHtml(schema.format)}`;
}

function limits(schema: Schema): string {
  const range = (from: number | undefined, to: number | undefined, unit: string): string[] => {
    if (from === undefined && to === undefined) return [];
    if (from === undefined) return [`at most ${to}${unit}`];
    return [to === undefined ? `at least ${from}${unit}` : `${from} to ${to}${unit}`];
  };
  const said = [
    ...range(schema.minimum, schema.maximum, ''),
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minItems, schema.maxItems, ' elements'),
    ...(schema.default === undefined ? [] : [`default ${literal(schema.default)}`]),
  ];
  return said.length === 0 ? '' : ` <span class="limits">${said.join(' · ')}</span>`;
}

/** The parts of the schema that have members to list below it. */
function inner(schema: Schema): Schema[] {
  if (schema.$ref !== undefined) return [];
  if (schema.properties !== undefined) return [schema];
  const parts = [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return parts.flatMap((part) => (part === undefined ? [] : inner(part)));
}

function member(name: string, schema: Schema, required: boolean, depth: number): string {
  const said = schema.description === undefined ? '' : `<p>${prose(schema.description)}</p>`;
  const need = required ? ' <span class="need">required</span>' : '';
  const below = depth < DEEPEST ? inner(schema).map((part) => members(part, depth + 1)) : [];
  return `<li><code class="name">${escapeHtml(name)}</code> <span class="type">${typeOf(schema)}</span>${need}${limits(schema)}${said}${below.join('')}</li>`;
}

/** The members of an object as a list; for other schemas, the type. */
export function members(schema: Schema, depth = 0): string {
  const own = Object.entries(schema.properties ?? {});
  if (own.length === 0) {
    const parts = inner(schema);
    const shown = parts.filter((part) => part !== schema).map((part) => members(part, depth));
    return `<p class="type">${typeOf(schema)}${limits(schema)}</p>${shown.join('')}`;
  }
  const items = own.map(([name, one]) => member(name, one, schema.required?.includes(name) === true, depth));
  return `<ul class="members">${items.join('')}</ul>`;
}

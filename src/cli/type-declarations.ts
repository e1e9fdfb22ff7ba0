/** `docket types`: writes the configured record types as TypeScript, for users of the client. */
import { type DataType, descriptorOf } from '../lib/data-types/index.ts';

type Text = string | Readonly<Record<string, string>>;

/** The parts of a type definition that are needed here, as in a bundle. */
export interface DeclaredType {
  code: string;
  name: Text;
  category?: string;
  workflow?: string;
  fields: readonly DeclaredField[];
}

export interface DeclaredField {
  code: string;
  name?: Text;
  dataType: DataType;
  required?: boolean;
  multiple?: boolean;
  default?: unknown;
  constraints?: { options?: readonly { code: string }[]; types?: readonly string[] };
}

export interface DeclaredWorkflow {
  code: string;
  states: readonly { code: string }[];
  transitions?: readonly { code: string }[];
}

const HEAD = `// Written by \`docket types\` from the configuration of a Docket service. Run it again when the configuration changes.

/** The id of a record, user, group, unit or service: a lower-case UUID. */
export type Id = string;
/** An exact decimal number, as text. */
export type Decimal = string;
/** YYYY-MM-DD. */
export type DateText = string;
/** RFC 3339, read as UTC with milliseconds. */
export type Instant = string;
/** HH:MM:SS. */
export type Time = string;
/** ISO 8601, as P1DT2H. */
export type Duration = string;
/** A document in the form of ProseMirror. */
export type RichText = { type: 'doc'; content?: unknown[] };
/** Sanitised into a document when it is written. */
export type Html = string;
`;

function textIn(text: Text | undefined, locale: string): string {
  if (text === undefined || typeof text === 'string') return text ?? '';
  return text[locale] ?? Object.values(text)[0] ?? '';
}

/** Names entered by users appear in comments and must not end them. */
function comment(indent: string, words: string): string {
  const plain = words.replaceAll('*/', '*\u200b/').replaceAll(/\s+/g, ' ').trim();
  return plain === '' ? '' : `${indent}/** ${plain} */\n`;
}

function pascal(code: string): string {
  return code
    .split('-')
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('');
}

const quoted = (text: string): string => `'${text}'`;
const union = (codes: readonly { code: string }[]): string =>
  codes.length === 0 ? 'never' : codes.map(({ code }) => quoted(code)).join(' | ');

function kindOf(field: DeclaredField, use: 'read' | 'written'): string {
  const [read, written = read] = descriptorOf(field.dataType).declared;
  const options = field.constraints?.options ?? [];
  const one = field.dataType === 'enum' && options.length > 0 ? union(options) : use === 'read' ? read : written;
  return field.multiple === true ? `Array<${one}>` : one;
}

function wordsOf(field: DeclaredField, locale: string): string {
  const { types = [] } = field.constraints ?? {};
  const to = types.length === 0 ? '' : `Refers to ${types.join(', ')}.`;
  return [textIn(field.name, locale), to].filter((part) => part !== '').join('. ');
}

function membersOf(
  type: DeclaredType,
  locale: string,
  declare: (field: DeclaredField) => { optional: boolean; kind: string },
): string {
  return type.fields
    .map((field) => {
      const { optional, kind } = declare(field);
      return `${comment('  ', wordsOf(field, locale))}  ${field.code}${optional ? '?' : ''}: ${kind};\n`;
    })
    .join('');
}

const nullable = (kind: string): string => (kind === 'unknown' ? kind : `${kind} | null`);

function declarationOf(
  type: DeclaredType,
  name: string,
  workflow: DeclaredWorkflow | undefined,
  locale: string,
): string {
  const title = textIn(type.name, locale);
  const values = membersOf(type, locale, (field) => ({ optional: true, kind: kindOf(field, 'read') }));
  const create = membersOf(type, locale, (field) => {
    const needed = field.required === true && field.default === undefined;
    const kind = kindOf(field, 'written');
    return { optional: !needed, kind: field.required === true ? kind : nullable(kind) };
  });
  const changes = membersOf(type, locale, (field) => {
    const kind = kindOf(field, 'written');
    return { optional: true, kind: field.required === true ? kind : nullable(kind) };
  });
  return `${comment('', `${title}: values as they are read. A field that the caller may not read, and one without a value, is left out.`)}export interface ${name}Values {
${values}}

${comment('', `${title}: values of a new record.`)}export interface ${name}Create {
${create}}

${comment('', `${title}: changes of a record; null clears a value.`)}export interface ${name}Changes {
${changes}}

export type ${name}State = ${workflow === undefined ? 'never' : union(workflow.states)};
export type ${name}Transition = ${workflow === undefined ? 'never' : union(workflow.transitions ?? [])};
`;
}

/**
 * The text of a module that exports `RecordTypes` for the client: `new Docket<RecordTypes>(…)`.
 *
 * @param locale of the names in comments
 */
export function typeDeclarations(
  types: readonly DeclaredType[],
  workflows: readonly DeclaredWorkflow[],
  locale: string,
): string {
  const taken = new Set<string>();
  const named = types.map((type) => {
    const plain = pascal(type.code);
    let name = plain;
    // The codes `a-1` and `a1` would get the same name.
    for (let count = 2; taken.has(name); count++) name = `${plain}_${count}`;
    taken.add(name);
    return { type, name };
  });
  const parts = named.map(({ type, name }) =>
    declarationOf(
      type,
      name,
      workflows.find(({ code }) => code === type.workflow),
      locale,
    ),
  );
  const rows = named.map(
    ({ type, name }) =>
      `  ${quoted(type.code)}: {\n    values: ${name}Values;\n    create: ${name}Create;\n    changes: ${name}Changes;\n    state: ${name}State;\n    transition: ${name}Transition;\n  };\n`,
  );
  return `${HEAD}\n${parts.join('\n')}\n/** Every record type by its code. */\nexport type RecordTypes = {\n${rows.join('')}};\n`;
}

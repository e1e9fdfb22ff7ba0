/** From an OpenAPI document of ours to the client's methods: one class for each group of operations, one method for each. */

export type Surface = 'api' | 'admin';

interface Schema {
  type?: string;
  required?: string[];
  properties?: Record<string, Schema>;
  $ref?: string;
}

interface Parameter {
  $ref?: string;
  name?: string;
  in?: string;
  required?: boolean;
}

interface Answer {
  $ref?: string;
  content?: Record<string, { schema: Schema }>;
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, Answer>;
  'x-scope'?: string;
  'x-right'?: string;
  /** Ours: it takes an idempotency key. */
  'x-keyed'?: boolean;
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown>; responses?: Record<string, unknown> };
  [member: string]: unknown;
}

/** `identity.createUser` → `IdentityCreateUser`, as openapi-ts writes it. */
function pascal(id: string): string {
  return id
    .split(/[.\-_]/)
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('');
}

function camel(name: string): string {
  const whole = pascal(name);
  return whole.slice(0, 1).toLowerCase() + whole.slice(1);
}

/** Names that stand for something else in every program. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['Object', 'DocketObject'],
  ['Error', 'DocketErrorBody'],
]);

function operationsOf(document: Document): { method: string; path: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function idsOf(document: Document): Set<string> {
  return new Set(operationsOf(document).map(({ operation }) => operation.operationId));
}

/**
 * The document with what a caller needs types for: parameters in path and query, bodies, successes, deliveries. Errors have
 * one shape, which the client reads itself.
 *
 * @param without leaves out the operations that this document has too
 */
export function reduced(document: Document, without?: Document): Document {
  const known = without === undefined ? new Set<string>() : idsOf(without);
  const strip = (operation: Operation): Operation => ({
    ...operation,
    'x-keyed': (operation.parameters ?? []).some((one) => one.$ref === '#/components/parameters/Idempotency-Key'),
    parameters: (operation.parameters ?? []).filter((one) => one.$ref === undefined && one.in !== 'header'),
    responses: Object.fromEntries(
      Object.entries(operation.responses).flatMap(([status, answer]) =>
        status.startsWith('2')
          ? [[status, { description: 'Done.', ...(answer.content && { content: answer.content }) }]]
          : [],
      ),
    ),
  });
  const group = (items: Record<string, Record<string, Operation>>) =>
    Object.fromEntries(
      Object.entries(items).flatMap(([place, methods]) => {
        const kept = Object.entries(methods).filter(([, operation]) => !known.has(operation.operationId));
        return kept.length === 0 ? [] : [[place, Object.fromEntries(kept.map(([m, one]) => [m, strip(one)]))]];
      }),
    );
  const { openapi, info, servers } = document;
  const paths = group(document.paths);
  const webhooks = group(document.webhooks ?? {});
  const schemas = reachable(document.components.schemas, [paths, webhooks]);
  let text = JSON.stringify({ openapi, info, servers, paths, webhooks, components: { schemas } });
  for (const [from, to] of RENAMED) {
    text = text
      .replaceAll(`"#/components/schemas/${from}"`, `"#/components/schemas/${to}"`)
      .replaceAll(`"schemas":{"${from}":`, `"schemas":{"${to}":`);
  }
  const renamed = JSON.parse(text, withoutTitle) as Document;
  for (const [from, to] of RENAMED) {
    if (!Object.hasOwn(renamed.components.schemas, from)) continue;
    renamed.components.schemas[to] = renamed.components.schemas[from];
    delete renamed.components.schemas[from];
  }
  return renamed;
}

/** The titles of bodies and answers name classes in other languages; here the types are named after the operations. */
function withoutTitle(name: string, value: unknown): unknown {
  return name === 'title' && typeof value === 'string' && /(?:Body|Answer|Data)$/.test(value) ? undefined : value;
}

function reachable(schemas: Record<string, unknown>, from: unknown): Record<string, unknown> {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      visit(schemas[name]);
    }
  };
  visit(from);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => found.has(name)));
}

function isRequired({ requestBody }: Operation): boolean {
  const schema = requestBody?.content['application/json']?.schema;
  return requestBody?.required === true || (schema?.required ?? []).length > 0;
}

interface Method {
  name: string;
  text: string;
}

function comment(lines: readonly string[]): string {
  const single = lines.flatMap((line) => line.split('\n'));
  return `/**\n${single.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

/**
 * How the answer is read: `json` in its envelope, `raw` as it is, `none` where there is nothing. Where a stream of events is an
 * alternative, a method reads the other form, as it does not ask for the stream.
 */
function kindOf(answer: Answer): 'json' | 'raw' | 'none' {
  const all = Object.entries(answer.content ?? {});
  const content = all.length === 1 ? all : all.filter(([mediaType]) => mediaType !== 'text/event-stream');
  if (content.length === 0) return 'none';
  return content.length === 1 && content[0]?.[1].schema.properties?.['data'] !== undefined ? 'json' : 'raw';
}

function methodOf(surface: Surface, method: string, path: string, operation: Operation): Method {
  const keyed = operation['x-keyed'] === true;
  const { operationId: id } = operation;
  const type = `T.${pascal(id)}`;
  const name = camel(id.slice(id.lastIndexOf('.') + 1));
  const parameters = operation.parameters ?? [];
  const places = [...path.matchAll(/\{([^}]+)\}/g)].map(([, place = '']) => place);
  const query = parameters.filter((one) => one.in === 'query');
  const hasBody = operation.requestBody !== undefined;
  const [[status = '200', answer = {}] = []] = Object.entries(operation.responses);
  const kind = kindOf(answer);
  const args = places.map((place) => `${place}: ${type}Data['path']['${place}']`);
  if (hasBody) args.push(`body${isRequired(operation) ? '' : '?'}: ${type}Data['body']`);
  if (query.length > 0) {
    const optional = query.every((one) => one.required !== true);
    args.push(`query: NonNullable<${type}Data['query']>${optional ? ' = {}' : ''}`);
  }
  args.push('options?: CallOptions');
  const result = kind === 'json' ? `${type}Responses[${status}]['data']` : kind === 'raw' ? 'Download' : 'void';
  const given = [
    `params: [${places.join(', ')}]`,
    ...(query.length > 0 ? ['query'] : []),
    ...(hasBody ? ['body'] : []),
  ];
  const facts = [`id: '${id}'`, `method: '${method}'`, `path: '${path}'`, `surface: '${surface}'`, `answer: '${kind}'`];
  if (keyed) facts.push('keyed: true');
  const needs = [
    operation['x-scope'] === undefined ? [] : [`scope \`${operation['x-scope']}\``],
    operation['x-right'] === undefined ? [] : [`right \`${operation['x-right']}\``],
  ].flat();
  const doc = comment([
    `${operation.summary}. ${operation.description ?? ''}`.trim(),
    '',
    `\`${method} ${path}\`${needs.length === 0 ? '' : `, ${needs.join(', ')}`}${keyed ? '; made once, however often it is sent' : ''}`,
  ]);
  const text = `${doc}${name}(${args.join(', ')}): Promise<${result}> {
    return this.sender.send<${result}>({ ${facts.join(', ')} }, { ${given.join(', ')} }, options);
  }`;
  return { name, text };
}

const HEAD = '// Written by client/tools/generate.ts from the OpenAPI documents: change those, not this.\n';

/** The module of one surface: a class for each group, named by what stands before the dot of the operation's id. */
export function writeOperations(surface: Surface, document: Document): string {
  const groups = Map.groupBy(operationsOf(document), ({ operation: { operationId: id } }) =>
    id.slice(0, id.lastIndexOf('.')),
  );
  const suffix = surface === 'api' ? 'Operations' : 'Administration';
  const classes = [...groups].map(([group, all]) => {
    const methods = all.map(({ method, path, operation }) => methodOf(surface, method, path, operation));
    return `export class ${pascal(group)}${suffix} extends Group {
  ${methods.map(({ text }) => text).join('\n\n')}
}`;
  });
  const events =
    surface === 'api'
      ? `\n/** What a receiver of webhooks gets, by kind of event. */
export interface Events {\n${Object.keys(document.webhooks ?? {})
          .map((name) => `  ${name}: T.${name}Delivery;`)
          .join('\n')}\n}\n`
      : '';
  return `${HEAD}import { type CallOptions, Group } from '../transport.ts';
${classes.some((text) => text.includes('Download')) ? "import type { Download } from '../content.ts';\n" : ''}import type * as T from './${surface}-types.ts';

${classes.join('\n\n')}
${events}`;
}

/** Every code that an error of the service may bear. */
export function writeCodes(...documents: Document[]): string {
  const codes = new Map<string, number>();
  for (const { components } of documents) {
    for (const name of Object.keys(components.responses ?? {})) {
      // `Error-404-NOT_FOUND`
      const [, status = '', ...own] = name.split('-');
      for (const code of own) codes.set(code, Number(status));
    }
  }
  const rows = [...codes].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
  return `${HEAD}/** Every \`error.code\` with the status that it comes with. */
export const ERROR_CODES = {\n${rows.map(([code, status]) => `  ${code}: ${status},`).join('\n')}\n} as const;

export type ErrorCode = keyof typeof ERROR_CODES;
`;
}

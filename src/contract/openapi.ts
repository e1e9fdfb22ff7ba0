/**
 * Builds the OpenAPI 3.1 documents from the declarations of the operations alone (docs/spec/README.md#versioning), so that they
 * always match the served API. There is one document for the public API and one for the administration API, which includes all
 * public operations.
 */
import { pageMeta, queryOn } from './paging.ts';
import type { TSchema } from 'typebox';
import { MetaSchema } from './envelope.ts';
import { type Example, type Examples, readExamples } from './examples.ts';
import { FAULTS, type FaultCode } from '../lib/fault-codes.ts';
import { answerHeaders, Components } from './openapi-components.ts';
import { type DescribedEvent, webhooksOf } from './openapi-events.ts';
import Type from 'typebox';
import { DryRunMeta, dryRunMembers } from './effects.ts';
import { type Operation, takesDryRun } from './operation.ts';

type Json = Record<string, unknown>;

export interface DocumentOptions {
  surface: 'public' | 'console';
  /** Webhook events; only the public document describes them. */
  events?: readonly DescribedEvent[];
  /** Examples by operation id. */
  examples?: Examples;
  title?: string;
  /** Version of the described API. */
  version?: string;
}

const PREFIXES = { public: '/api/v1', console: '/api/admin/v1' };
const TITLES = { public: 'Docket', console: 'Docket administration' };
const DESCRIPTIONS = {
  public:
    'Work records over JSON and HTTP. Every operation runs with the rights of the owner of the API key, limited by the scopes of ' +
    'the key. Unknown query parameters and unknown body properties are errors. Responses may contain additional fields.',
  console:
    'The administration API. Users sign in and send the session cookie, on writes with the header X-Docket-CSRF. Scripts send ' +
    'an API key with the scope admin:manage. The document also contains all operations of the public API, at the same paths.',
};

/** Errors that any request can cause. */
const EVERYWHERE: readonly FaultCode[] = [
  'INVALID_REQUEST',
  'BODY_TOO_LARGE',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
  'OVERLOADED',
  'RATE_LIMITED',
];

/** The errors that the operation can return. In the administration API, keys also need a scope: `admin:manage`. */
export function faultsOf(operation: Operation, surface: DocumentOptions['surface']): FaultCode[] {
  const codes = new Set<FaultCode>([...EVERYWHERE, ...operation.faults]);
  codes.add('DATABASE_UNAVAILABLE');
  if (operation.access !== 'open') codes.add('UNAUTHENTICATED').add('SCOPE_MISSING');
  // Writes of a session require its CSRF token.
  if (operation.access !== 'open' && surface === 'console' && operation.method !== 'GET') {
    codes.add('CSRF_TOKEN_INVALID');
  }
  if (operation.right !== undefined) codes.add('RIGHT_MISSING');
  if (operation.params !== undefined) codes.add('NOT_FOUND');
  if (operation.body !== undefined) codes.add('INVALID_JSON').add('UNSUPPORTED_MEDIA_TYPE');
  if (operation.idempotent === true) {
    codes.add('INVALID_IDEMPOTENCY_KEY').add('IDEMPOTENCY_KEY_REUSED').add('IDEMPOTENCY_IN_PROGRESS');
  }
  return [...codes];
}

/**
 * Builds the document of one surface.
 *
 * @throws Error if two different schemas have the same `$id`
 */
export function buildDocument(operations: readonly Operation[], options: DocumentOptions): Json {
  const { surface } = options;
  const components = new Components();
  const described = operations.filter((operation) => isOn(operation, surface));
  const paths = new Map<string, Json>();
  paths.set('/openapi.json', { get: documentOperation(components) });
  for (const operation of described) {
    const item = paths.get(operation.path) ?? {};
    paths.set(operation.path, item);
    item[operation.method.toLowerCase()] = describe(operation, surface, components, options.examples?.[operation.id]);
  }
  const tags = Map.groupBy(described, (operation) => operation.tag);
  return {
    openapi: '3.1.0',
    info: {
      title: options.title ?? TITLES[surface],
      version: options.version ?? '1.0.0',
      description: DESCRIPTIONS[surface],
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: PREFIXES[surface] }],
    tags: [
      { name: 'Description', description: 'The API description.' },
      ...[...tags].map(([name, tagged]) => ({ name, description: scopesOf(tagged) })),
    ],
    paths: Object.fromEntries(paths),
    webhooks: surface === 'public' ? webhooksOf(options.events ?? [], (schema) => components.schema(schema)) : {},
    components: components.toJson(surface),
  };
}

/** The texts of the documents of both surfaces, with the recorded examples. */
export function buildDocuments(
  operations: readonly Operation[],
  events: readonly DescribedEvent[],
): { public: Buffer; console: Buffer } {
  const examples = readExamples();
  const textOf = (options: DocumentOptions): Buffer => Buffer.from(JSON.stringify(buildDocument(operations, options)));
  return {
    public: textOf({ surface: 'public', events, examples }),
    console: textOf({ surface: 'console', examples }),
  };
}

function scopesOf(operations: readonly Operation[]): string {
  const scopes = new Set(operations.map((operation) => operation.access));
  const named = [...scopes].filter((scope) => scope !== 'console' && scope !== 'open').sort();
  return named.length === 0
    ? 'Only in the administration API.'
    : `Scopes: ${named.map((scope) => `\`${scope}\``).join(', ')}.`;
}

function isOn(operation: Operation, surface: DocumentOptions['surface']): boolean {
  if (operation.access === 'open') return operation.surface === surface;
  return operation.access !== 'console' || surface === 'console';
}

function describe(
  operation: Operation,
  surface: DocumentOptions['surface'],
  components: Components,
  example: Example = {},
): Json {
  const success = successOf(operation, surface, components, example);
  const scope = operation.access === 'open' || operation.access === 'console' ? undefined : operation.access;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: descriptionOf(operation),
    security: operation.access === 'open' ? [] : securityOf(surface),
    ...(scope === undefined ? {} : { 'x-scope': scope }),
    ...(operation.right === undefined ? {} : { 'x-right': operation.right }),
    parameters: parametersOf(operation, surface, components, example),
    ...(operation.body === undefined ? {} : { requestBody: bodyOf(operation, operation.body, components, example) }),
    responses: {
      [operation.status]: success,
      ...othersOf(operation, success),
      ...errorsOf(faultsOf(operation, surface), components),
    },
  };
}

/** The operation's description, plus the required access and right unless the description mentions them. */
function descriptionOf({ access, right, description }: Operation): string {
  if (access === 'open') return `${description} Needs no authentication.`;
  const means = access === 'console' ? 'a session, or a key with the scope `admin:manage`' : `the scope \`${access}\``;
  const also = right === undefined || description.includes(right) ? '' : `, and the right \`${right}\``;
  return `${description} Needs ${means}${also}.`;
}

function securityOf(surface: DocumentOptions['surface']): Json[] {
  return surface === 'public' ? [{ key: [] }] : [{ key: [] }, { session: [], csrf: [] }];
}

function documentOperation(components: Components): Json {
  return {
    operationId: 'openapi.read',
    tags: ['Description'],
    summary: 'This document',
    description: 'Raw, without envelope. Needs no key and may be cached by its ETag.',
    security: [],
    parameters: [components.header('X-Correlation-Id')],
    responses: {
      200: {
        description: 'The document.',
        headers: answerHeaders([], components),
        content: { 'application/json': { schema: { type: 'object' }, example: { openapi: '3.1.0', paths: {} } } },
      },
      304: { description: NOT_MODIFIED, headers: answerHeaders([], components) },
      ...errorsOf(['INVALID_REQUEST', 'HEADERS_TOO_LARGE', 'INTERNAL'], components),
    },
  };
}

const NOT_MODIFIED = 'Not modified: the ETag in `If-None-Match` is current. The response has no body.';

/** Other responses of a raw operation besides the success. */
function othersOf({ alsoAnswers = [] }: Operation, success: Json): Json {
  const { content: _, ...bare } = success;
  const described = {
    206: { ...success, description: 'The requested byte range.' },
    304: { ...bare, description: NOT_MODIFIED },
  };
  return Object.fromEntries(alsoAnswers.map((status) => [status, described[status]]));
}

function parametersOf(
  operation: Operation,
  surface: DocumentOptions['surface'],
  components: Components,
  example: Example,
): Json[] {
  const parameters: Json[] = [];
  for (const [place, schema] of [
    ['path', operation.params],
    ['query', queryOn(surface, operation)],
  ] as const) {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, TSchema>;
      required?: string[];
    };
    for (const [name, property] of Object.entries(properties)) {
      const described = components.schema(property);
      const { description, ...rest } = described;
      const isRequired = place === 'path' || (required.includes(name) && described.default === undefined);
      parameters.push({
        name,
        in: place,
        required: isRequired,
        ...(description === undefined ? {} : { description }),
        schema: rest,
        ...exampleOf((place === 'path' ? example.params : example.query)?.[name]),
      });
    }
  }
  if (takesDryRun(operation)) parameters.push(components.dryRun());
  parameters.push(components.header('X-Correlation-Id'));
  if (operation.idempotent === true) parameters.push(components.header('Idempotency-Key'));
  if (operation.ifMatch === true) parameters.push(components.header('If-Match'));
  if (operation.replicaSafe === true) parameters.push(components.header('X-Docket-Position'));
  return parameters;
}

/** Names an inline schema after its operation. Generators of other languages make a class of it; without a name, `Body17`. */
function titled({ id }: Operation, kind: 'Body' | 'Answer' | 'Data', schema: Json): Json {
  if (schema['type'] !== 'object') return schema;
  const name = id.replaceAll(/(?:^|[^a-zA-Z\d])([a-z])/g, (_, first: string) => first.toUpperCase());
  return { title: `${name}${kind}`, ...schema };
}

function bodyOf(operation: Operation, schema: TSchema, components: Components, example: Example): Json {
  // If every property is optional, or can be replaced by a header, the body is optional, too.
  const { required = [], anyOf = [] } = schema as { required?: string[]; anyOf?: { required?: string[] }[] };
  const needsChoice = anyOf.length > 0 && anyOf.every((choice) => (choice.required ?? []).length > 0);
  const optional =
    operation.ifMatch === true
      ? required.every((name) => name === 'expectedRevision')
      : required.length === 0 && !needsChoice;
  const content = { schema: titled(operation, 'Body', components.schema(schema)), ...exampleOf(example.body) };
  return { required: !optional, content: { 'application/json': content } };
}

function successOf(
  operation: Operation,
  surface: DocumentOptions['surface'],
  components: Components,
  example: Example,
): Json {
  const own = operation.idempotent === true ? ['Idempotency-Replayed'] : [];
  const rated = operation.access === 'open' ? [] : ['RateLimit-Policy', 'RateLimit'];
  const writes =
    ['write', 'own'].includes(operation.unit) && operation.access !== 'open' && operation.replicaSafe !== true;
  const placed = writes ? ['X-Docket-Position'] : [];
  const answer: Json = { description: 'Done.', headers: answerHeaders([...own, ...rated, ...placed], components) };
  if (operation.status === 204) return answer;
  if (operation.raw !== undefined) {
    const media = operation.raw.mediaTypes.map((type) => [
      type,
      { ...mediaOf(type, operation, components), ...(example.mediaType === type ? exampleOf(example.answer) : {}) },
    ]);
    return { ...answer, content: Object.fromEntries(media) };
  }
  const schema = titled(operation, 'Answer', {
    type: 'object',
    required: ['data', 'meta'],
    properties: {
      data: titled(operation, 'Data', components.schema(operation.answer)),
      meta: components.schema(metaOf(operation, surface)),
    },
  });
  const envelope =
    example.answer === undefined
      ? undefined
      : { data: example.answer, meta: { ...EXAMPLE_META, ...metaExample(operation) } };
  const stream = operation.streams === true ? { 'text/event-stream': { schema: { type: 'string' } } } : {};
  return { ...answer, content: { 'application/json': { schema, ...exampleOf(envelope) }, ...stream } };
}

/** `meta` of an answer in pages. */
const PagedMeta = Type.Object({ ...MetaSchema.properties, ...pageMeta }, { $id: 'PagedMeta' });

function metaOf(operation: Operation, surface: DocumentOptions['surface']): TSchema {
  const { meta, paged } = operation;
  if (paged === true && surface === 'console') return PagedMeta;
  if (!takesDryRun(operation)) return meta ?? MetaSchema;
  if (meta === undefined) return DryRunMeta;
  const { $id } = meta as { $id?: string };
  return Type.Object({ ...meta.properties, ...dryRunMembers }, $id === undefined ? {} : { $id: `${$id}OfWrite` });
}

function metaExample({ meta }: Operation): Json {
  const members = Object.entries(meta?.properties ?? {}) as [string, { examples?: unknown[] }][];
  return Object.fromEntries(
    members.flatMap(([name, { examples }]) => (examples === undefined ? [] : [[name, examples[0]]])),
  );
}

const EXAMPLE_META = { correlationId: '0197a3c2-5d8e-7c10-9f2b-6d1f1b0a7c55', apiVersion: 'v1' };

/** The `example` property of a parameter or media type. */
function exampleOf(value: unknown): Json {
  return value === undefined ? {} : { example: value };
}

function mediaOf(type: string, operation: Operation, components: Components): Json {
  if (type.includes('json')) return { schema: components.schema(operation.answer) };
  return { schema: type.startsWith('text/') ? { type: 'string' } : {} };
}

function errorsOf(codes: readonly FaultCode[], components: Components): Json {
  const byStatus = Map.groupBy(codes, (code) => FAULTS[code].status);
  const statuses = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(statuses.map(([status, group]) => [status, components.errorAnswer(status, group.sort())]));
}

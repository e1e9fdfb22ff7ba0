/** Named components of an OpenAPI document: schemas, headers and errors, each described once. */
import type { TSchema } from 'typebox';
import { ErrorSchema } from './envelope.ts';
import { FAULTS, type FaultCode } from '../lib/fault-codes.ts';
import { type Phrase, phraseText } from '../lib/problem.ts';

type Json = Record<string, unknown>;

export function answerHeaders(names: readonly string[], components: Components): Json {
  return Object.fromEntries(['X-Correlation-Id', ...names].map((name) => [name, components.answerHeader(name)]));
}

const REQUEST_HEADERS = new Map<string, Json>([
  [
    'X-Correlation-Id',
    {
      description: 'Returned in the response. A new id is generated if the header is missing or malformed.',
      schema: { type: 'string', maxLength: 128 },
      example: 'nightly-export-42',
    },
  ],
  [
    'Idempotency-Key',
    {
      description:
        'A repeated request with the same key and body within 24 hours makes no second change and returns the stored response.',
      schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
      example: 'order-4711-printer',
    },
  ],
  [
    'If-Match',
    {
      description:
        'The revision in quotes, instead of expectedRevision in the body. If both are given, they must be equal.',
      schema: { type: 'string', pattern: '^"[1-9][0-9]*"$' },
      example: '"3"',
    },
  ],
  [
    'X-Docket-Position',
    {
      description:
        'The most recent position returned for a write. The response includes that write, whichever process or replica serves it. ' +
        'Has no effect without a replica.',
      schema: { type: 'string', pattern: '^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$' },
      example: '0/1A2B3C4',
    },
  ],
]);

const DRY_RUN: Json = {
  name: 'dryRun',
  in: 'query',
  required: false,
  description:
    'With `true`, nothing is changed: the answer has the status, data and errors that the call would have now, and `meta.effects`. Numbers are null. Cannot be combined with `Idempotency-Key`.',
  schema: { type: 'boolean', default: false },
};

const ANSWER_HEADERS = new Map<string, Json>([
  ['X-Correlation-Id', { description: 'Finds the request in the log.', required: true, schema: { type: 'string' } }],
  [
    'Idempotency-Replayed',
    { description: '`true` if this is the stored response of an earlier request.', schema: { type: 'string' } },
  ],
  [
    'RateLimit-Policy',
    {
      description: 'Quota `q` in a window of `w` seconds. Absent if no limit is configured.',
      schema: { type: 'string' },
    },
  ],
  [
    'RateLimit',
    { description: 'Remaining requests `r`, and seconds `t` until the quota is refilled.', schema: { type: 'string' } },
  ],
  [
    'X-Docket-Position',
    {
      description: 'Send this value with later reads so that they include this write. Absent if no replica is used.',
      schema: { type: 'string' },
    },
  ],
  ['Retry-After', { description: 'Seconds to wait.', schema: { type: 'integer' } }],
  ['WWW-Authenticate', { description: '`Bearer`.', schema: { type: 'string' } }],
]);

const STATUS_HEADERS = new Map([
  [401, ['WWW-Authenticate']],
  [429, ['Retry-After', 'RateLimit-Policy', 'RateLimit']],
  [503, ['Retry-After']],
]);

/** Components shared by operations. The document only contains the ones that are used. */
export class Components {
  readonly #schemas = new Map<string, Json>();
  readonly #parameters = new Map<string, Json>();
  readonly #headers = new Map<string, Json>();
  readonly #responses = new Map<string, Json>();

  /** The schema for the document: schemas with an id become components, unions of constants become enums. */
  schema(schema: TSchema): Json {
    return this.#copy(schema) as Json;
  }

  #copy(value: unknown, isMap = false): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#copy(item));
    if (typeof value !== 'object' || value === null) return value;
    // Inside `properties`, `$id`, `$defs`, `phrase`, `names` and `typesAt` are names of properties.
    if (isMap) return this.#members(value as Json);
    const {
      $id,
      $defs,
      phrase,
      names: _,
      typesAt: __,
      ...rest
    } = value as Json & {
      $id?: string;
      $defs?: Record<string, unknown>;
      phrase?: Phrase;
    };
    // The phrase is for error messages, `names` and `typesAt` are for renames; they are no keywords of JSON Schema.
    if (phrase !== undefined) rest.description ??= phraseText(phrase);
    for (const [name, definition] of Object.entries($defs ?? {})) this.#define(name, definition as Json);
    if (typeof $id === 'string') return this.#define($id, rest);
    if (typeof rest.$ref === 'string')
      return { ...rest, $ref: schemaRef(rest.$ref.slice(rest.$ref.lastIndexOf('/') + 1)) };
    return this.#plain(rest);
  }

  #members(map: Json): Json {
    return Object.fromEntries(Object.entries(map).map(([name, member]) => [name, this.#copy(member)]));
  }

  #plain(schema: Json): Json {
    const constants = constantsOf(schema.anyOf);
    if (constants !== undefined) {
      const { anyOf: _, ...rest } = schema;
      return { type: 'string', enum: constants, ...rest };
    }
    const maps = new Set(['properties', 'patternProperties']);
    const verbatim = new Set(['const', 'enum', 'default', 'examples']);
    const copied = Object.fromEntries(
      Object.entries(schema).map(([key, part]) => [key, verbatim.has(key) ? part : this.#copy(part, maps.has(key))]),
    );
    return nullableForm(copied);
  }

  #define(name: string, definition: Json): Json {
    const { $id: _, ...rest } = definition;
    const before = this.#schemas.get(name);
    // Registered before it is filled, so that a schema may refer to itself.
    if (before === undefined) this.#schemas.set(name, {});
    const filled = this.#plain(rest);
    if (before !== undefined && Object.keys(before).length > 0 && JSON.stringify(before) !== JSON.stringify(filled)) {
      throw new Error(`two different schemas are called ${name}`);
    }
    this.#schemas.set(name, filled);
    return { $ref: schemaRef(name) };
  }

  /** The query parameter of writes that take a dry run. */
  dryRun(): Json {
    this.#parameters.set('dryRun', DRY_RUN);
    return { $ref: '#/components/parameters/dryRun' };
  }

  header(name: string): Json {
    this.#parameters.set(name, { name, in: 'header', required: false, ...REQUEST_HEADERS.get(name) });
    return { $ref: `#/components/parameters/${name}` };
  }

  answerHeader(name: string): Json {
    this.#headers.set(name, ANSWER_HEADERS.get(name) ?? {});
    return { $ref: `#/components/headers/${name}` };
  }

  /** Equal errors share one component. */
  errorAnswer(status: number, codes: readonly FaultCode[]): Json {
    // Generators derive identifiers from the name, so it starts with a letter.
    const name = `Error-${status}-${codes.join('-')}`;
    if (!this.#responses.has(name)) {
      this.#responses.set(name, {
        description: codes.map((code) => `- \`${code}\`: ${FAULTS[code].meaning}`).join('\n'),
        headers: answerHeaders(STATUS_HEADERS.get(status) ?? [], this),
        content: {
          'application/json': {
            schema: {
              allOf: [
                this.schema(ErrorSchema),
                {
                  type: 'object',
                  properties: { error: { type: 'object', properties: { code: { enum: [...codes] } } } },
                },
              ],
            },
          },
        },
      });
    }
    return { $ref: `#/components/responses/${name}` };
  }

  toJson(surface: 'public' | 'console'): Json {
    const key: Json = { type: 'http', scheme: 'bearer', description: 'An API key.' };
    const session: Json = {
      type: 'apiKey',
      in: 'cookie',
      name: 'docket_session',
      description: 'The session cookie that signing in sets.',
    };
    const csrf: Json = {
      type: 'apiKey',
      in: 'header',
      name: 'X-Docket-CSRF',
      description: 'Required on every write with a session.',
    };
    return {
      securitySchemes: surface === 'public' ? { key } : { key, session, csrf },
      schemas: sorted(this.#schemas),
      parameters: sorted(this.#parameters),
      headers: sorted(this.#headers),
      responses: sorted(this.#responses),
    };
  }
}

function schemaRef(name: string): string {
  return `#/components/schemas/${name}`;
}

/**
 * "Or null" in the forms that generators recognise: a list of types for an inline schema, `oneOf` for a reference or an enum.
 * From `anyOf` some make a class of its own, which cannot hold the value.
 */
function nullableForm(schema: Json): Json {
  const { anyOf, ...rest } = schema as Json & { anyOf?: Json[] };
  if (anyOf?.length !== 2 || !anyOf.some(isNull)) return schema;
  const other = anyOf.find((choice) => !isNull(choice));
  if (other === undefined) return schema;
  const inline = typeof other.type === 'string' && other.enum === undefined && other.const === undefined;
  return inline ? { ...other, ...rest, type: [other.type, 'null'] } : { ...rest, oneOf: [other, { type: 'null' }] };
}

function isNull(schema: Json): boolean {
  return schema.type === 'null';
}

function constantsOf(anyOf: unknown): string[] | undefined {
  if (!Array.isArray(anyOf) || anyOf.length === 0) return undefined;
  const constants = anyOf.map((choice: Json) => (Object.keys(choice).length <= 2 ? choice.const : undefined));
  return constants.every((value) => typeof value === 'string') ? constants : undefined;
}

function sorted(map: ReadonlyMap<string, Json>): Json {
  return Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Makes requests: valid ones, ones that are nearly so, and ones that are no requests at all. */
import type { Call } from '../../support/operation-calls-case.ts';
import type { RandomSource } from './random-source.ts';
import { hostileBody, hostileContent, hostileFilter, hostileString } from './hostile.ts';
import type { KnownValues } from './known-values.ts';
import { type Json, SchemaValues, spoil } from './schema-values.ts';
import type { RawRequest } from './raw-http.ts';

/** An operation as the document describes it. */
export interface Described {
  id: string;
  method: string;
  path: string;
  prefix: string;
  query: { name: string; schema: Json }[];
  params: { name: string; schema: Json }[];
  body: Json | undefined;
  isPublic: boolean;
  shapes: SchemaValues;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const NAMED: ReadonlyMap<string, { table: NonNullable<RawRequest['claims']>['table']; member: string }> = new Map([
  ['objects.create', { table: 'objects', member: 'objectId' }],
  ['identity.createUser', { table: 'users', member: 'userId' }],
  ['identity.createGroup', { table: 'groups', member: 'groupId' }],
  ['identity.createOrgUnit', { table: 'org_units', member: 'organizationUnitId' }],
]);

export function describe(
  document: Json,
  prefix: string,
  publicIds: ReadonlySet<string>,
  random: RandomSource,
  pool: KnownValues,
): Described[] {
  const shapes = new SchemaValues(document, random, (name) => pool.get(name));
  const resolve = (part: unknown): Json => shapes.resolve(part as Json) as Json;
  return Object.entries(document['paths'] as Record<string, Json>).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => ['get', 'post', 'patch', 'put', 'delete'].includes(method))
      .map(([method, given]) => {
        const operation = given as Json;
        const parameters = ((operation['parameters'] ?? []) as unknown[]).map(resolve);
        const at = (place: string): { name: string; schema: Json }[] =>
          parameters
            .filter((one) => one['in'] === place)
            .map((one) => ({ name: String(one['name']), schema: (one['schema'] ?? {}) as Json }));
        const content = (operation['requestBody'] as { content?: Record<string, { schema?: Json }> } | undefined)
          ?.content;
        const id = String(operation['operationId']);
        return {
          id,
          method: method.toUpperCase(),
          path,
          prefix,
          query: at('query'),
          params: at('path'),
          body: content?.['application/json']?.schema,
          isPublic: publicIds.has(id),
          shapes,
        };
      }),
  );
}

export class Requests {
  readonly #random: RandomSource;
  readonly #pool: KnownValues;
  readonly #known: readonly Described[];
  /** Calls that were valid when they were made, by operation. */
  readonly corpus: ReadonlyMap<string, readonly Call[]>;
  readonly #keys: (who: string, prefix: string) => string | undefined;

  constructor(options: {
    random: RandomSource;
    pool: KnownValues;
    known: readonly Described[];
    corpus: ReadonlyMap<string, readonly Call[]>;
    keys: (who: string, prefix: string) => string | undefined;
  }) {
    this.#random = options.random;
    this.#pool = options.pool;
    this.#known = options.known;
    this.corpus = options.corpus;
    this.#keys = options.keys;
  }

  next(): RawRequest {
    const random = this.#random;
    const operation = random.pick(this.#known);
    const roll = random.below(20);
    const who = random.pick(['full', 'full', 'full', 'partial', 'partial', 'reader', 'nobody']);
    if (roll < 4) return this.#corpusShot(operation, who, false);
    if (roll < 8) return this.#corpusShot(operation, who, true);
    if (roll < 13) return this.#madeShot(operation, who, false);
    if (roll < 16) return this.#madeShot(operation, who, true);
    if (roll < 17) return this.#brokenBytes(operation, who);
    if (roll < 18) return this.#brokenFrame(operation, who);
    return this.#special(operation, who);
  }

  #finish(operation: Described, who: string, way: string, call: Call, body: Buffer | undefined): RawRequest {
    const params = { ...call.params };
    const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(params[name] ?? 'none'));
    const key = this.#keys(who, operation.prefix);
    const headers: [string, string][] = key === undefined ? [] : [['authorization', `Bearer ${key}`]];
    if (body !== undefined) headers.push(['content-type', 'application/json']);
    const shot: RawRequest = {
      way,
      operation: operation.id,
      who,
      method: operation.method,
      path: `${operation.prefix}${filled}${call.query ?? ''}`,
      headers,
      params,
      ...(body === undefined ? {} : { body }),
    };
    const named = NAMED.get(operation.id);
    const id = named === undefined ? undefined : (call.body as Json | undefined)?.[named.member];
    if (named !== undefined && typeof id === 'string') shot.claims = { table: named.table, id };
    return shot;
  }

  #json(operation: Described, body: unknown): Buffer | undefined {
    return body === undefined ? undefined : Buffer.from(JSON.stringify(tame(operation.id, body)) ?? 'null');
  }

  #corpusShot(operation: Described, who: string, spoiled: boolean): RawRequest {
    const random = this.#random;
    const calls = this.corpus.get(operation.id) ?? [];
    if (calls.length === 0) return this.#madeShot(operation, who, spoiled);
    const call = random.pick(calls);
    if (!spoiled) return this.#finish(operation, who, 'call', call, this.#json(operation, call.body));
    const params = { ...call.params };
    if (random.once(3)) for (const name of Object.keys(params)) params[name] = this.#param(name);
    const body = call.body === undefined || random.once(6) ? call.body : spoil(random, call.body);
    return this.#finish(operation, who, 'spoiled call', { ...call, params, body }, this.#json(operation, body));
  }

  #param(name: string): string {
    const random = this.#random;
    if (random.once(12)) return hostileString(random).slice(0, 3000);
    if (random.once(6)) return this.#pool.anyId();
    return String(this.#pool.get(name) ?? random.uuid());
  }

  #madeShot(operation: Described, who: string, spoiled: boolean): RawRequest {
    const random = this.#random;
    const params = Object.fromEntries(operation.params.map(({ name }) => [name, this.#param(name)]));
    const query: [string, string][] = [];
    for (const { name, schema } of operation.query) {
      if (!random.once(2)) continue;
      const value =
        spoiled && random.once(2) ? hostileString(random).slice(0, 6000) : operation.shapes.make(schema, name);
      query.push([name, typeof value === 'string' ? value : JSON.stringify(value)]);
    }
    if (spoiled && random.once(6))
      query.push([random.pick(['x', 'page', 'q', '__proto__', hostileString(random)]), '1']);
    let body = operation.body === undefined ? undefined : operation.shapes.make(operation.body);
    if (spoiled && body !== undefined) body = spoil(random, body);
    const call = { params, query: queryOf(query), body };
    return this.#finish(operation, who, spoiled ? 'spoiled shape' : 'shape', call, this.#json(operation, body));
  }

  #brokenBytes(operation: Described, who: string): RawRequest {
    const shot = this.#corpusShot(operation, who, false);
    const valid = shot.body?.toString() ?? '{"expectedRevision":1}';
    return { ...shot, way: 'broken bytes', body: hostileBody(this.#random, valid) };
  }

  /** Methods, media types and headers that do not belong. */
  #brokenFrame(operation: Described, who: string): RawRequest {
    const random = this.#random;
    const shot = this.#corpusShot(operation, who, false);
    const set = (name: string, value: string): void => {
      shot.headers = [...shot.headers.filter(([other]) => other !== name), [name, value]];
    };
    const way = random.pick([
      'method',
      'type',
      'encoding',
      'headers',
      'key',
      'path',
      'if-match',
      'idempotency',
      'range',
    ]);
    if (way === 'method') {
      shot.method = random.pick(METHODS);
      if (['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(shot.method)) delete shot.body;
    } else if (way === 'type') {
      set(
        'content-type',
        random.pick([
          'text/plain',
          'application/xml',
          'multipart/form-data; boundary=x',
          'application/json; charset=utf-16',
          'APPLICATION/JSON\t',
          'application/json, text/plain',
          'application/json;',
          'application/jsonx',
          '',
          'application/x-www-form-urlencoded',
          'application/merge-patch+json',
        ]),
      );
    } else if (way === 'encoding') set('content-encoding', random.pick(['gzip', 'br', 'identity', 'x']));
    else if (way === 'key') {
      const key = shot.headers.find(([name]) => name === 'authorization')?.[1] ?? '';
      shot.headers = shot.headers.filter(([name]) => name !== 'authorization');
      const other = random.pick([
        '',
        `${key}x`,
        key.toLowerCase(),
        key.replace('Bearer', 'bearer'),
        `Bearer  ${key.slice(7)}`,
        'Basic YTpi',
        'Bearer dk_',
        `Bearer ${'x'.repeat(5000)}`,
      ]);
      if (other !== '') shot.headers.push(['authorization', other]);
      if (random.once(3)) shot.headers.push(['cookie', 'docket_session=x; docket_session=y']);
      shot.who = 'unsure';
    } else if (way === 'path') {
      shot.path = random.pick([
        `${shot.path}/`,
        `/${shot.path}`,
        shot.path.replace('/api/', '/API/'),
        `${shot.path.split('?')[0]}%2f..%2fx`,
        `${shot.path}%00`,
        `${shot.path}%zz`,
        `${shot.path}?a=%ff`,
        shot.path.replace('/v1', '/v2'),
        `${shot.path};a=b`,
        `${shot.path}/extra/more`,
        `${shot.path}?page=1&page=2`,
        `${shot.path}#x`.replace('#', '%23'),
        `${shot.path}?${'a=1&'.repeat(2000)}`,
      ]);
    } else if (way === 'if-match')
      set('if-match', random.pick(['"1"', '1', '*', 'W/"1"', '"x"', '"99999999999999999999"', '"1", "2"']));
    else if (way === 'idempotency') {
      set('idempotency-key', random.pick(['one', 'two', 'x'.repeat(255), 'x'.repeat(256), 'a b', '"quoted"', 'é']));
      if (random.once(4)) shot.headers.push(['idempotency-key', 'again']);
    } else if (way === 'range') {
      set(
        'range',
        random.pick([
          'bytes=0-0',
          'bytes=5-1',
          'bytes=-0',
          `bytes=${'0-1,'.repeat(500)}2-3`,
          'lines=1-2',
          'bytes=99999999999999999999-',
        ]),
      );
      if (random.once(2)) set('if-none-match', '*');
    } else {
      set('x-correlation-id', random.pick(['ok-1', 'x'.repeat(129), 'a b', '{}', '<script>']));
      set('x-forwarded-for', '127.0.0.1, 10.0.0.1');
      set('x-http-method-override', 'DELETE');
      if (random.once(3)) set('x-long', 'y'.repeat(70_000));
    }
    return { ...shot, way: `frame: ${way}` };
  }

  /** Hostile search filters and import contents, with everything else as it should be. */
  #special(given: Described, who: string): RawRequest {
    const random = this.#random;
    const find = (id: string): Described => this.#known.find((one) => one.id === id) ?? given;
    const roll = random.below(6);
    if (roll < 2) {
      const filter = hostileFilter(random);
      const query: [string, string][] = [['filter', filter]];
      if (random.once(3)) query.push(['q', hostileString(random).slice(0, 4000)]);
      return this.#finish(find('search.search'), who, 'filter', { query: queryOf(query) }, undefined);
    }
    if (roll === 2) {
      const query = queryOf([
        ['q', hostileString(random).slice(0, 4000)],
        ...(random.once(2) ? [['kinds', 'object,comment'] as [string, string]] : []),
      ]);
      return this.#finish(find(random.pick(['search.search', 'objects.list'])), who, 'words', { query }, undefined);
    }
    if (roll === 3) {
      const operation = find('exports.create');
      const text = hostileFilter(random);
      const body = Buffer.from(`{"typeDefinitionId":"thing","format":"CSV","query":{"filter":${text}}}`);
      return this.#finish(operation, who, 'export filter', {}, body);
    }
    const operation = find(random.pick(['imports.run', 'imports.preview']));
    const call = random.pick(this.corpus.get(operation.id) ?? [{}]);
    const body = { ...(call.body as Json | undefined), content: hostileContent(random) };
    return this.#finish(operation, who, 'import content', {}, this.#json(operation, body));
  }
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('.', '%2E');
}

function queryOf(pairs: readonly [string, string][]): string {
  if (pairs.length === 0) return '';
  return `?${pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')}`;
}

/** Calls that would end the run without finding anything: an apply that removes the whole configuration. */
function tame(operation: string, body: unknown): unknown {
  if (operation !== 'config.apply' || typeof body !== 'object' || body === null) return body;
  return { ...body, prune: false };
}

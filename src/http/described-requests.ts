/**
 * Finds and runs the operation of a request that is described as data: method, path, query and body. The checks run in the same
 * order as for a request that arrives (`serve.ts`); credentials, rate limits and sizes are not part of it. It runs in a
 * transaction that is undone.
 */
import type {
  BoundOperation,
  DescribedRequest,
  FoundRequest,
  RequestFacts,
  Waiter,
} from '../platform/unit-of-work/binding.ts';
import { Fault } from '../lib/fault.ts';
import { Call } from './call.ts';
import { readInput, type Route, routesOf } from './route.ts';
import { PREFIX } from './types.ts';

const SLASH = '/';

/** A request whose operation and parameters are known. */
interface Match {
  route: Route;
  params: Record<string, string>;
}

export class DescribedRequests {
  readonly #bindings: () => readonly BoundOperation[];
  #routes: readonly Route[] | undefined;

  /** @param bindings all operations; asked once, at the first request */
  constructor(bindings: () => readonly BoundOperation[]) {
    this.#bindings = bindings;
  }

  /** @throws Fault NOT_FOUND, METHOD_NOT_ALLOWED */
  find(request: DescribedRequest): FoundRequest {
    const { route, params } = this.#match(request.method, request.path);
    const { operation } = route.prepared.binding;
    return {
      operation,
      surface: route.surface,
      params,
      tryAs: async (caller, work, held, waiter) => {
        if (route.scope !== undefined) held.require(route.scope);
        const input = readInput(route.prepared, { params, query: request.query, body: request.body });
        const { dryRun: _dryRun, ...query } = input.query as Readonly<Record<string, unknown>>;
        for (const scope of operation.moreScopes?.(query) ?? []) if (route.scope !== undefined) held.require(scope);
        const call = new Call(work, route.prepared, caller, undefined);
        return await call.statusOf({ ...input, query } as typeof input, factsOf(route, held.scopes, waiter));
      },
    };
  }

  #match(method: string, path: string): Match {
    this.#routes ??= routesOf(this.#bindings(), 30_000);
    const matches = this.#routes.flatMap((route) => {
      const params = paramsIn(route.path, path);
      return params === undefined ? [] : [{ route, params }];
    });
    if (matches.length === 0) {
      const prefixes = Object.values(PREFIX).join(' or ');
      throw new Fault('NOT_FOUND', `There is no operation at this path. Paths start with ${prefixes}.`);
    }
    const [best] = matches
      .filter(({ route }) => route.prepared.binding.operation.method === method)
      // A fixed segment goes before a parameter.
      .sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length);
    if (best !== undefined) return best;
    const allow = [...new Set(matches.map(({ route }) => route.prepared.binding.operation.method))].sort().join(', ');
    throw new Fault('METHOD_NOT_ALLOWED', `This path does not support the method. Use ${allow}.`);
  }
}

/** The parameters of the path; undefined if it does not have the form of the pattern. */
function paramsIn(pattern: string, path: string): Record<string, string> | undefined {
  const parts = pattern.split(SLASH);
  const given = path.split(SLASH);
  if (parts.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const text = given[index] ?? '';
    if (!part.startsWith('{')) {
      if (part !== text) return undefined;
      continue;
    }
    const value = decoded(text);
    if (value === undefined || value === '') return undefined;
    params[part.slice(1, -1)] = value;
  }
  return params;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** What a described request does not tell is absent. */
function factsOf(route: Route, scopes: ReadonlySet<string>, waiter: Waiter): RequestFacts {
  return {
    ip: '',
    sender: { address: '', device: undefined },
    sessionToken: undefined,
    userAgent: undefined,
    secure: true,
    scopes: route.scope === undefined ? null : scopes,
    waiter,
  };
}

/** Who calls: verifies the credentials of a request, and checks its rate and its scope. */
import type { IncomingMessage } from 'node:http';
import { INTERFACES } from '../contract/rights.ts';
import { Fault } from '../lib/fault.ts';
import type { Sender } from '../platform/unit-of-work/binding.ts';
import type { Caller } from '../platform/unit-of-work/context.ts';
import type { Admission } from './admission.ts';
import type { UnverifiedConnections } from './connection.ts';
import { preferredLocale, singleHeader } from './headers.ts';
import type { RateAnswer, RateLimiter } from './rate.ts';
import { readConsistencyOf } from './read-consistency.ts';
import type { RequestContext } from './request-context.ts';
import type { Route } from './route.ts';
import type { Authenticated, ServerOptions } from './types.ts';
import { type OpenAdmission, sourceName } from './unverified.ts';

/** The parts of the server that verify callers. */
export interface Callers {
  options: Pick<ServerOptions, 'authenticate' | 'replicated' | 'version'>;
  limiter: RateLimiter | undefined;
  /** Admits requests whose sender is not verified. */
  open: OpenAdmission;
  unverified: UnverifiedConnections;
  sender: (request: IncomingMessage, ip: string) => Sender;
}

/** Checks key, rate and scope. @throws Fault UNAUTHENTICATED, RATE_LIMITED, SCOPE_MISSING, OVERLOADED */
export async function callerOf(
  service: Callers,
  route: Route,
  context: RequestContext,
  from: SentFrom,
  admission: Admission,
): Promise<Caller> {
  const found = await verified(service, route, context, from);
  service.unverified.verified(context.request.socket);
  const { version } = service.options;
  if (version !== undefined && route.surface === 'console') context.extra.push('Docket-Version', version);
  context.callerId = found.callerId;
  context.keyId = found.keyId;
  admission.attribute(found.callerId);
  if (service.limiter !== undefined) {
    const taken = service.limiter.take(found.callerId, performance.now());
    // The in-process limiter answers synchronously.
    requireRate(service.limiter, context, taken instanceof Promise ? await taken : taken);
  }
  if (route.scope !== undefined) {
    context.scopes = found.scopes;
    requireScope(context, route.scope);
  }
  const replicaSafe = route.prepared.binding.operation.replicaSafe === true;
  const consistency = service.options.replicated === true ? readConsistencyOf(replicaSafe, context, found) : undefined;
  return { ...callerFor(route, context, found), consistency };
}

/** The caller of a verified request; also if it is verified again later, for streams. */
export function callerFor(route: Route, { request, correlationId }: RequestContext, found: Authenticated): Caller {
  const { actor, via, keyId, config } = found.caller;
  const locale = route.surface === 'console' ? preferredLocale(request) : undefined;
  const { surface } = route;
  const named = surface === 'console' ? singleText(request.headers['x-docket-interface']) : undefined;
  const used = INTERFACES.find((one) => one === named);
  return { actor, via, keyId, config, correlationId, locale, surface, interface: used };
}

/** Credentials and address of a request. */
export interface SentFrom {
  sessionToken: string | undefined;
  ip: string;
}

/** @throws Fault UNAUTHENTICATED, RATE_LIMITED, OVERLOADED */
export function verified(
  service: Callers,
  route: Route,
  { request, ip: sender }: RequestContext,
  { sessionToken, ip }: SentFrom,
): Promise<Authenticated> {
  return service.options.authenticate({
    authorization: singleHeader(request, 'authorization'),
    sessionToken,
    csrfToken: singleText(request.headers['x-docket-csrf']),
    method: request.method ?? '',
    surface: route.surface,
    ip,
    patienceMs: route.prepared.timeoutMs,
    lookUp: (work) => service.open.lookUp(sourceName(service.sender(request, sender ?? '')), work),
  });
}

/** Checks the scope where the route requires one. Sessions have no scopes and need none. @throws Fault SCOPE_MISSING */
export function requireScope({ scopes }: RequestContext, scope: string): void {
  if (scopes === null || scopes.has(scope)) return;
  throw new Fault('SCOPE_MISSING', `The key lacks the scope ${scope}. Use a key that has it.`, { scope });
}

/** @throws Fault RATE_LIMITED */
function requireRate(limiter: RateLimiter, context: RequestContext, rate: RateAnswer): void {
  context.extra.push(
    'RateLimit-Policy',
    `"default";q=${limiter.quota};w=${limiter.windowSeconds}`,
    'RateLimit',
    `"default";r=${rate.remaining};t=${rate.resetSeconds}`,
  );
  if (rate.allowed) return;
  throw new Fault('RATE_LIMITED', `The request limit is exceeded. Retry in ${rate.retryAfter} s.`, [], {
    headers: { 'Retry-After': String(rate.retryAfter) },
  });
}

function singleText(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * Explains how the service decides a request of a user or key (docs/spec/access.md#explain-a-request). The request runs in a dry
 * run with a traced actor, so the verdict is that of the request itself. If it is refused, further dry runs in which denied
 * checks are answered as granted find the smallest set of rights that is missing.
 */
import type { Static } from 'typebox';
import { statusOf } from '../../lib/fault-codes.ts';
import { Fault, isFault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import { isId } from '../../lib/ids.ts';
import { isActive } from '../../contract/state.ts';
import { ADMIN_SCOPE } from '../../contract/scopes.ts';
import { describedRequests, ServicePart, type Service } from '../../platform/module.ts';
import type { DescribedRequest, FoundRequest, RequestFacts, Runner } from '../../platform/unit-of-work/binding.ts';
import type { Caller, ReadContext } from '../../platform/unit-of-work/context.ts';
import { findKey as loginKeyOf } from '../identity/index.ts';
import { typeView } from '../metadata/index.ts';
import { actorFor } from './actor.ts';
import type * as contract from './contract-explain.ts';
import { explainSteps, type Step, type TransitionFacts } from './explain-steps.ts';
import { type KeyRow, findKey, findUserByLogin, loadUser, type UserRow } from './store.ts';
import { type Outcome, Trace, tracedActor } from './trace.ts';

/** What decides about a transition apart from rights; undefined if the record has no such transition. */
type TransitionOf = (ctx: ReadContext, objectId: string, transitionId: string) => Promise<TransitionFacts | undefined>;

/** The module of workflows provides it, which depends on this one. */
export const transitionFacts = new ServicePart<TransitionOf>('what decides about transitions');

export interface ExplainParts {
  /** Finds the operation of a request. @throws Fault NOT_FOUND, METHOD_NOT_ALLOWED */
  find(request: DescribedRequest): FoundRequest;
  transitionOf: TransitionOf;
}

export function explainParts({ get }: Pick<Service, 'get'>): ExplainParts {
  return { find: get(describedRequests), transitionOf: get(transitionFacts) };
}

export interface Explanation {
  status: number;
  code?: string;
  steps: Step[];
}

/** Limits of one explanation. Each run takes a few milliseconds. */
const MAX_RUNS = 80;
const BUDGET_MS = 8000;

/** Who asks for the explanation. */
type Asker = Pick<Runner, 'work' | 'caller'> & Pick<RequestFacts, 'waiter'>;

interface Subject {
  user: UserRow;
  key: KeyRow | undefined;
}

/** @throws Fault INVALID_REQUEST unless exactly one of user and key is named; NOT_FOUND */
async function subjectOf(ctx: ReadContext, { user: name, keyId }: { user?: string; keyId?: string }): Promise<Subject> {
  if ((name === undefined) === (keyId === undefined)) throw new Fault('INVALID_REQUEST', problem('USER_OR_KEY'));
  const key = keyId === undefined ? undefined : await findKey(ctx, keyId);
  const userId =
    name === undefined ? key?.ownerId : isId(name) ? name : (await findUserByLogin(ctx, loginKeyOf(name)))?.id;
  const user = userId === undefined ? undefined : await loadUser(ctx, userId);
  if (user === undefined) throw new Fault('NOT_FOUND', 'There is no such user or key.');
  return { user, key };
}

/** Whether requests of the user, or with the key, are accepted at all. */
function isAccepted({ user, key }: Subject, now: string): boolean {
  const expired = key?.expiresAt !== undefined && key.expiresAt !== null && key.expiresAt <= now;
  return isActive(user) && !expired && (key?.revokedAt ?? null) === null;
}

/** @throws Error for a failure that is no answer of the operation */
async function runOnce(
  { work, caller, waiter }: Asker,
  { user, key }: Subject,
  request: FoundRequest,
  granted: ReadonlySet<string>,
): Promise<Outcome> {
  const trace = new Trace(granted);
  const typeIds = [...caller.config.get(typeView).byId.keys()];
  const actor = tracedActor(actorFor(user, caller.config), typeIds, trace);
  const { surface } = request;
  const { via } = request.operation;
  const explained: Caller = {
    actor,
    via: via ?? (surface === 'console' ? 'console' : 'api'),
    keyId: key?.id ?? null,
    correlationId: caller.correlationId,
    config: caller.config,
    surface,
  };
  const has = (scope: string): boolean => key === undefined || key.scopes.includes(scope);
  const requireScope = (scope: string): void => {
    if (key === undefined || trace.answer({ kind: 'scope', scope }, has(scope))) return;
    throw new Fault('SCOPE_MISSING', `The key lacks the scope ${scope}. Use a key that has it.`, { scope });
  };
  const ended = { checks: trace.checks, fault: undefined };
  try {
    if (surface === 'console') requireScope(ADMIN_SCOPE);
    const held = { scopes: new Set(key?.scopes ?? []), require: requireScope };
    const status = await request.tryAs(explained, work, held, waiter);
    return { ...ended, status, denied: trace.denied };
  } catch (error) {
    const status = isFault(error) ? statusOf(error.code) : undefined;
    if (!isFault(error) || status === undefined || status >= 500) throw error;
    return { ...ended, status, fault: error, denied: trace.denied };
  }
}

/** Two runs with the same answer have the same text. */
function answerText({ status, fault }: Outcome): string {
  return JSON.stringify([status, fault?.code, fault?.message, fault?.details]);
}

/** Whether missing rights can be the cause of a refusal with this status. */
function mayLackRights({ status }: Outcome): boolean {
  return status === 400 || status === 403 || status === 404;
}

/**
 * Grants the last denied check until the request is no longer refused for a right, then drops each granted check that the
 * answer does not depend on.
 *
 * @returns the keys of the missing checks, and the run in which they are granted
 */
async function findMissing(
  first: Outcome,
  run: (granted: ReadonlySet<string>) => Promise<Outcome>,
): Promise<{ missing: ReadonlySet<string>; last: Outcome }> {
  const ends = performance.now() + BUDGET_MS;
  let runs = 0;
  const hasTime = (): boolean => ++runs <= MAX_RUNS && performance.now() < ends;
  const granted = new Set<string>();
  let last = first;
  while (mayLackRights(last) && last.denied !== undefined && hasTime()) {
    granted.add(last.denied);
    last = await run(granted);
  }
  const best = answerText(last);
  if (best === answerText(first)) return { missing: new Set(), last: first };
  for (const key of granted) {
    if (!hasTime()) break;
    const fewer = new Set(granted);
    fewer.delete(key);
    const without = await run(fewer);
    if (answerText(without) !== best) continue;
    granted.delete(key);
    last = without;
  }
  return { missing: granted, last };
}

/** @throws Fault RIGHT_MISSING, INVALID_REQUEST, NOT_FOUND */
export async function explainRequest(
  runner: Runner,
  body: Static<(typeof contract.explainRequest)['body']>,
  { waiter }: Pick<RequestFacts, 'waiter'>,
  { find, transitionOf }: ExplainParts,
): Promise<Explanation> {
  const { work, caller } = runner;
  caller.actor.require('role.assign');
  const { subject, now } = await work.read(caller, async (ctx) => ({
    subject: await subjectOf(ctx, body),
    now: ctx.now,
  }));
  const [path = '', search = ''] = body.path.split('?', 2);
  const described = { method: body.method, path, query: body.query ?? search, body: body.body };
  let request: FoundRequest;
  try {
    request = find(described);
  } catch (error) {
    if (!isFault(error)) throw error;
    const { code, message } = error;
    return { status: statusOf(code) ?? 500, code, steps: [{ kind: 'refusal', code, message, details: [] }] };
  }
  const { operation } = request;
  if (operation.access === 'open' || operation.explained === false) {
    throw new Fault('INVALID_REQUEST', problem('NOT_EXPLAINED', { operation: operation.id }));
  }
  const explanation = isAccepted(subject, now)
    ? await explained({ work, caller, waiter }, subject, { request, described }, transitionOf)
    : { status: 401, code: 'UNAUTHENTICATED', steps: [callerStep(subject, now)] };
  const { status, code } = explanation;
  await runner.write(async (ctx) => {
    const data = { operation: operation.id, path, keyId: subject.key?.id ?? null, status, code: code ?? null };
    ctx.emit({ type: 'RequestExplained', subject: `user:${subject.user.id}`, data });
  });
  return explanation;
}

function callerStep(subject: Subject, now: string): Step {
  return { kind: 'caller', login: subject.user.login, accepted: isAccepted(subject, now) };
}

async function explained(
  { work, caller, waiter }: Asker,
  subject: Subject,
  { request, described }: { request: FoundRequest; described: DescribedRequest },
  transitionOf: ExplainParts['transitionOf'],
): Promise<Explanation> {
  const run = (granted: ReadonlySet<string>): Promise<Outcome> =>
    runOnce({ work, caller, waiter }, subject, request, granted);
  const first = await run(new Set());
  const { missing, last } = await findMissing(first, run);
  const steps = await work.read(caller, async (ctx) => [
    callerStep(subject, ctx.now),
    ...(await explainSteps(ctx, subject.user, { request, described, first, outcome: last, missing }, transitionOf)),
  ]);
  const { status, fault } = first;
  if (fault === undefined) return { status, steps };
  return { status, code: fault.code, steps };
}

/** Sends generated requests to the service one after the other and checks every response. */
import { setTimeout as sleep } from 'node:timers/promises';
import { buildDocument } from '../../../src/contract/openapi.ts';
import { ADMIN_SCOPE } from '../../../src/contract/scopes.ts';
import { MODULES } from '../../../src/modules.ts';
import { operationsOf } from '../../../src/platform/module.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { operationCases, WORLD } from '../../support/operation-calls.ts';
import { type Call, HIDDEN_VALUE, type Login } from '../../support/operation-calls-case.ts';
import { documentCheck } from '../../support/response-check.ts';
import { bundle, stored } from '../../support/small-configuration.ts';
import { RandomSource } from './random-source.ts';
import { responseOracle, type ResponseOracle } from './oracle.ts';
import { KnownValues } from './known-values.ts';
import { describe, Requests } from './requests.ts';
import { Target } from './target.ts';
import { type RawResponse, type RawRequest, RawHttp } from './raw-http.ts';

export interface FuzzOptions {
  requests: number;
  seed: number;
  /** Called with each problem. */
  say(line: string): void;
}

export interface FuzzReport {
  requests: number;
  byStatus: Record<string, number>;
  /** Operations that answered a request with success at least once, of those that there are. */
  succeeded: number;
  operations: number;
  overloaded: number;
  /** Requests that kept the loop for more than 100 ms of processor time each time they were made, and the longest. */
  stalls: number;
  longestStallMs: number;
  slowestMs: number;
  rssMiB: number;
  problems: string[];
}

const LOGINS: readonly Login[] = ['full', 'partial', 'reader', 'nobody'];
/** Milliseconds of CPU time that one request may block the event loop. */
export const MAX_STALL_MS = 100;
const MAX_MS = 1000;
/** The longest time that a request may ask the service to wait for events, in seconds. */
const LONGEST_WAIT_S = 25;
/** Each line of an import, and each item of a bulk call, is a command of its own. */
const MS_A_LINE = 10;
/** New base calls replace used ones after this many requests. */
const RENEWED_EVERY = 2500;

/**
 * What a user without rights may do: read, sign out, manage the own account and queues, get errors item by item, and hand in mails,
 * which act with the rights of their senders.
 */
const MAY = new Set([
  'session.create',
  'session.delete',
  'me.change',
  'me.changePassword',
  'me.endSession',
  'me.endOtherSessions',
  'bulk.run',
  'mail.receive',
  'desk.queues.create',
  'desk.queues.change',
  'desk.queues.delete',
  'notifications.read',
  'notifications.choices.set',
  'notifications.quietHours.set',
]);

type KeySet = Map<string, string>;

/** Keys of all users, replaced when they no longer work. */
async function makeKeys(app: TestApp, pool: KnownValues, keys: KeySet): Promise<void> {
  for (const login of LOGINS) {
    const plain = await app.createKey({ login });
    const admin = await app.createKey({ login, scopes: [ADMIN_SCOPE] });
    for (const { id } of [plain, admin]) pool.spared.add(id);
    keys.set(`${login} /api/v1`, plain.key);
    keys.set(`${login} /api/admin/v1`, admin.key);
  }
}

async function gather(app: TestApp, keys: KeySet, corpus: Map<string, Call[]>): Promise<void> {
  const table = operationCases(app, keys.get('full /api/v1') ?? '', keys.get('full /api/admin/v1') ?? '');
  for (const [id, row] of Object.entries(table)) {
    const calls: Call[] = [];
    for (const make of [() => row.call(), () => row.call(), () => row.hidden?.seen(), () => row.hidden?.absent()]) {
      try {
        const call = await make();
        if (call !== undefined) calls.push(call);
      } catch {
        // An earlier request removed what this call needs; previous calls remain.
      }
    }
    if (calls.length > 0) corpus.set(id, calls);
  }
}

export async function fuzz({ requests, seed, say }: FuzzOptions): Promise<FuzzReport> {
  const app = await startTestApp({ bundle: bundle(WORLD) });
  const target = new Target(app);
  try {
    await target.ready();
    return await run(app, target, { requests, seed, say });
  } finally {
    await target.end();
    await app.close();
  }
}

async function run(app: TestApp, target: Target, { requests, seed, say }: FuzzOptions): Promise<FuzzReport> {
  const random = new RandomSource(seed);
  const pool = new KnownValues(random);
  const keys: KeySet = new Map();
  const corpus = new Map<string, Call[]>();
  await makeKeys(app, pool, keys);
  await gather(app, keys, corpus);
  for (const { id } of await stored<{ id: string }>(app, 'SELECT id FROM users')) pool.spared.add(id);
  for (const calls of corpus.values()) for (const { params } of calls) pool.learn('', {}, params ?? {});
  for (const [name, values] of Object.entries(VALUES)) for (const value of values) pool.put(name, value);
  const known = operationsOf(MODULES);
  const publicIds = new Set(known.filter(({ access }) => access !== 'console').map(({ id }) => id));
  const documents = [
    { document: buildDocument(known, { surface: 'public' }), prefix: '/api/v1' },
    { document: buildDocument(known, { surface: 'console' }), prefix: '/api/admin/v1' },
  ];
  const described = documents.flatMap(({ document, prefix }) => describe(document, prefix, publicIds, random, pool));
  const maker = new Requests({
    random,
    pool,
    known: described,
    corpus,
    keys: (who, prefix) => keys.get(`${who} ${prefix}`),
  });
  const rules: ResponseOracle = {
    checks: documents.map(({ document, prefix }) => documentCheck(document, prefix)),
    // Bundle errors point to file and line; inbound calls return the errors of their command.
    pointless: new Set(['config.plan', 'config.apply', 'inbound.run']),
    forbidden: (who) => (who === 'partial' || who === 'nobody' ? [HIDDEN_VALUE] : []),
    mayWrite: (operation) => MAY.has(operation),
  };
  const wire = new RawHttp(target.url, 1);
  const report: FuzzReport = {
    requests: 0,
    byStatus: {},
    succeeded: 0,
    operations: new Set(described.map(({ id }) => id)).size,
    overloaded: 0,
    stalls: 0,
    longestStallMs: 0,
    slowestMs: 0,
    rssMiB: 0,
    problems: [],
  };
  const reportProblem = (shot: RawRequest, problem: string): void => {
    const line = `[${report.requests}] ${shot.way} ${shot.who} ${shot.operation}: ${problem}\n      ${requestText(shot)}`;
    report.problems.push(line);
    say(line);
  };
  const succeeded = new Set<string>();
  let recent: RawRequest[] = [];
  try {
    while (report.requests < requests) {
      const shot = maker.next();
      if (spoilsTheRun(shot, pool)) continue;
      report.requests++;
      const stood = await claimed(app, shot);
      let seen: RawResponse;
      try {
        seen = await wire.fire(shot);
      } catch (error) {
        if (!target.alive) throw new Error(`the service ended at: ${requestText(shot)}`, { cause: error });
        // An oversized request gets a response before the connection closes, but it may arrive too late.
        if (!MAY_BREAK.test((error as Error).message)) reportProblem(shot, `no answer: ${String(error)}`);
        continue;
      }
      report.byStatus[seen.status] = (report.byStatus[seen.status] ?? 0) + 1;
      if (seen.status === 503) report.overloaded++;
      if (seen.status < 300) {
        succeeded.add(shot.operation);
        pool.learn(shot.operation, seen.body?.data, shot.params);
      }
      for (const problem of responseOracle(rules, shot, seen)) reportProblem(shot, problem);
      if (seen.status >= 400 && !stood && (await claimed(app, shot)))
        reportProblem(shot, 'the request was refused, but the record was created');
      if (seen.status === 401 && shot.who !== 'unsure') await makeKeys(app, pool, keys);
      recent = [...recent.slice(-2), shot];
      const stall = target.takeStall();
      if (stall > MAX_STALL_MS || seen.ms > patience(shot)) await repeat(wire, target, recent, report, reportProblem);
      report.slowestMs = Math.max(report.slowestMs, seen.ms);
      if (report.requests % RENEWED_EVERY === 0) {
        await gather(app, keys, corpus);
        say(`… ${report.requests} requests: ${JSON.stringify(report.byStatus)}`);
      }
    }
    const { rss, polluted } = await target.memory();
    report.rssMiB = rss;
    if (polluted.length > 0) report.problems.push(`Object.prototype was changed: ${polluted.join()}`);
    for (const line of target.logged) report.problems.push(`logged: ${line.slice(0, 1000)}`);
  } finally {
    wire.close();
  }
  report.succeeded = succeeded.size;
  const never = [...new Set(described.map(({ id }) => id))].filter((id) => !succeeded.has(id));
  if (never.length > 0) say(`never answered with success: ${never.join(', ')}`);
  return report;
}

/** Values of fields, for requests that are made from shapes. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  typeDefinitionId: ['thing'],
  typeId: ['thing'],
  targetTypeId: ['thing'],
  'values.title': ['A thing', 'принтер', 'x'],
  'values.shown': [true, false],
  'values.picture': ['<p>Hello <b>there</b></p>'],
  expectedRevision: [1, 2],
  baseId: ['kb'],
  sectionId: ['first'],
  section: ['types', 'workflows', 'roles', 'calendars', 'slaPolicies', 'services', 'catalogs', 'users', 'groups'],
  code: ['thing', 'flow', 'soon', 'mondays'],
  endpoint: ['https://1.1.1.1/hook'],
  command: ['pause', 'resume', 'stop', 'recalculate', 'explode'],
  contentBase64: ['eA==', 'YWJj'],
  q: ['thing', 'a thing', 'при'],
  state: ['ACTIVE', 'ARCHIVED', 'begun'],
  policy: ['soon'],
  calendar: ['mondays'],
};

/** Connections that the service closes itself: headers too long, bodies that it does not read. */
const MAY_BREAK = /ECONNRESET|EPIPE|socket hang up|Invalid character|unescaped characters/;

function requestText({ method, path, headers, body }: RawRequest): string {
  const shown = headers
    .filter(([name]) => name !== 'authorization')
    .map(([name, value]) => `${name}: ${value.slice(0, 60)}`);
  const text = body === undefined ? '' : ` ${body.length} bytes ${JSON.stringify(body.subarray(0, 700).toString())}`;
  return `${method} ${path.slice(0, 700)} [${shown.join(', ')}]${text}`;
}

/** The users and keys of the run must remain. */
function spoilsTheRun(shot: RawRequest, pool: KnownValues): boolean {
  if (shot.method === 'GET') return false;
  const body = shot.body?.toString() ?? '';
  const about = Object.values(shot.params);
  if (about.some((id) => pool.spared.has(id))) return true;
  return shot.operation === 'identity.addGroupMember' && shot.who === 'full' && body.includes('"everything"');
}

/** Milliseconds that an answer may take: more for bodies of many lines, and as long as the request asks to wait. */
function patience({ path, body }: RawRequest): number {
  const wait = Math.min(Number(/[?&]wait=(\d+)/.exec(path)?.[1] ?? 0), LONGEST_WAIT_S) * 1000;
  return MAX_MS + wait + MS_A_LINE * (body?.toString('latin1').match(/\\n|\},\{/g)?.length ?? 0);
}

/** Repeats suspicious requests alone, to exclude CPU time of other processes. */
async function repeat(
  wire: RawHttp,
  target: Target,
  recent: readonly RawRequest[],
  report: FuzzReport,
  reportProblem: (shot: RawRequest, problem: string) => void,
): Promise<void> {
  for (const shot of recent) {
    let least = { stall: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY };
    for (let times = 0; times < 3; times++) {
      await sleep(40);
      target.takeStall();
      const seen = await wire.fire(shot).catch(() => undefined);
      await sleep(40);
      least = { stall: Math.min(least.stall, target.takeStall()), ms: Math.min(least.ms, seen?.ms ?? 0) };
      if (least.stall <= MAX_STALL_MS && least.ms <= patience(shot)) break;
    }
    report.longestStallMs = Math.max(report.longestStallMs, least.stall);
    if (least.stall > MAX_STALL_MS) {
      report.stalls++;
      reportProblem(shot, `kept the loop for ${Math.round(least.stall)} ms each time`);
    }
    if (least.ms > patience(shot)) reportProblem(shot, `took ${Math.round(least.ms)} ms each time`);
  }
}

/** Whether there is something with the id that the request would give to something new. */
async function claimed(app: TestApp, { claims }: RawRequest): Promise<boolean> {
  if (claims === undefined || !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(claims.id)) return false;
  return (await stored(app, `SELECT 1 FROM ${claims.table} WHERE id = $1`, [claims.id])).length > 0;
}

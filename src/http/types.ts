/** Types of the HTTP layer: its options, credentials and limits. The layer knows modules only as bound operations. */
import type { Logger } from 'pino';
import type { Readiness } from '../platform/observability/readiness.ts';
import type { BoundOperation, EffectsOf, RedirectPage } from '../platform/unit-of-work/binding.ts';
import type { Tracer } from '../platform/observability/traces.ts';
import type { Caller } from '../platform/unit-of-work/context.ts';
import type { Work } from '../platform/unit-of-work/work.ts';
import type { Gauge } from '../platform/observability/gauges.ts';
import type { DeviceCookie, OpenLimits } from './unverified.ts';
import type { EventStreamLimits } from './event-streams.ts';
import type { RateLimiter } from './rate.ts';

export type Surface = 'public' | 'console';

export const PREFIX: Readonly<Record<Surface, string>> = { public: '/api/v1', console: '/api/admin/v1' };

/** Credentials as sent with a request. Nothing here is verified. */
export interface Credentials {
  /** The one `Authorization` header; undefined when it is missing or given more than once. */
  authorization: string | undefined;
  /** The cookie `docket_session`; always undefined on the public surface. */
  sessionToken: string | undefined;
  /** The header `X-Docket-CSRF`. */
  csrfToken: string | undefined;
  method: string;
  surface: Surface;
  /** Client address. It is taken from `X-Forwarded-For` only behind trusted proxies. */
  ip: string;
  /** How long it may wait for a database that is slow, in milliseconds. */
  patienceMs: number;
  /**
   * Runs the lookup of a credential that this process has not yet seen as valid. Lookups are limited per source (device or
   * client address), so that unauthenticated clients cannot exhaust the database connections.
   *
   * @throws Fault RATE_LIMITED, OVERLOADED
   */
  lookUp<T>(work: () => Promise<T>): Promise<T>;
}

/** The verified caller. */
export interface Authenticated {
  /** Id of the key, or of the session's user. Rate limits and idempotency keys apply per caller. */
  callerId: string;
  keyId: string | null;
  scopes: ReadonlySet<string>;
  caller: Omit<Caller, 'correlationId'>;
}

export interface ServerOptions {
  bindings: readonly BoundOperation[];
  /** @throws Fault UNAUTHENTICATED, DATABASE_UNAVAILABLE */
  authenticate(credentials: Credentials): Promise<Authenticated>;
  device?: DeviceCookie;
  /** The actor of operations without authentication. */
  anonymous(): Omit<Caller, 'correlationId'> | Promise<Omit<Caller, 'correlationId'>>;
  work: Work;
  /** What a dry run would have done; required where an operation takes `dryRun`. */
  effects?: EffectsOf;
  log: Logger;
  /** True if reads may use a replica. The server then sends position headers and reads those of the client. */
  replicated?: boolean;
  /** Version of the service, for authenticated callers of the administration API. */
  version?: string | undefined;
  /** Creates a span for each operation. */
  tracer?: Tracer | undefined;
  limits: Limits;
  health: {
    /** Whether requests can be served; `checks` names each part. Asked at most once a second. */
    ready(): Promise<Readiness>;
  };
  /** The OpenAPI documents, served unchanged. */
  documents: { public: Buffer; console: Buffer };
  /** The folder of the built web console, served at `/`. Without it, no console is served. */
  consoleFolder?: string | undefined;
  /** Public URL of the service, as `https://docket.example.org`. With https, answers carry `Strict-Transport-Security`. */
  publicUrl?: string | undefined;
  /** Contact for security reports, as a URI, for `/.well-known/security.txt`. */
  securityContact?: string | undefined;
  /** Pages that only redirect the browser. */
  redirects?: readonly RedirectPage[];
  /** A rate limiter shared by several processes. Default: each process counts separately. */
  rateLimiter?: RateLimiter | undefined;
  /** Values for `/metrics` beyond those of the HTTP layer: the pool, queues, workers. */
  gauges?: () => Promise<Gauge[]>;
  /** Answer of `/metrics` where several processes share the address. Default: the metrics of this process. */
  exposition?: (() => Promise<string>) | undefined;
}

export interface Limits {
  /** Requests per minute and caller (`DOCKET_RATE_LIMIT`). */
  ratePerMinute: number | 'off';
  /** CIDR lists (`DOCKET_TRUSTED_PROXIES`, `DOCKET_METRICS_ALLOW`). */
  trustedProxies: readonly string[];
  metricsAllow: readonly string[];
  /** Maximum number of requests in flight; above it the server answers 503. Default 512. */
  inFlight?: number;
  /** Maximum number of requests that run at once, not counting long ones; others queue. Default: `inFlight`. */
  running?: number;
  /**
   * Limits of requests to open operations: in flight at once over all addresses (default 64), and per minute and address
   * (default 600).
   */
  open?: OpenLimits;
  /** Limits of server-sent event streams. */
  eventStreams?: EventStreamLimits | undefined;
  /** Maximum number of open connections; further ones are closed immediately. Default 8192. */
  connections?: number;
  /** Bytes of request bodies of verified callers held at once. One caller may hold at most half. Default 256 MiB. */
  bodyBytes?: number;
  /** Bytes of large answers being sent, over all callers. One caller may hold at most half. Default 256 MiB. */
  answerBytes?: number;
  /** Milliseconds in which a request must arrive completely; headers get half of it. Default 28 s. */
  receiveMs?: number;
  /**
   * Milliseconds after which an idle connection is closed, or one whose client reads less than 64 KiB of a large answer.
   * Default 13 s.
   */
  stalledMs?: number;
  /** Milliseconds for an operation that sets no limit of its own. Default 30 s. */
  operationMs?: number;
}

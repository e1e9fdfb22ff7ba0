/** What the HTTP layer is given and what it passes on. It knows rooms only as bound operations (architecture, section 3c). */
import type { Logger } from 'pino';
import type { BoundOperation, Sender } from '../mechanisms/binding.ts';
import type { Tracer } from '../mechanisms/traces.ts';
import type { Caller, Work } from '../mechanisms/work.ts';
import type { Gauge } from './metrics.ts';
import type { DeviceCookie, OpenLimits } from './open.ts';
import type { RateLimiter } from './rate.ts';

export type Surface = 'public' | 'console';

export const PREFIX: Readonly<Record<Surface, string>> = { public: '/api/v1', console: '/api/admin/v1' };

/** What a request shows of its sender. Nothing here was checked. */
export interface Credentials {
  /** The one `Authorization` header; undefined when it is missing or given more than once. */
  authorization: string | undefined;
  /** The cookie `docket_session`; always undefined on the public surface. */
  sessionToken: string | undefined;
  /** The header `X-Docket-CSRF`. */
  csrfToken: string | undefined;
  method: string;
  surface: Surface;
  /** Address of the client, behind trusted proxies alone taken from `X-Forwarded-For`. */
  ip: string;
  /**
   * Runs a look-up of a credential that was not found valid before. Look-ups are counted by the sender's address, so that
   * strangers cannot use up database connections.
   *
   * @throws Fault RATE_LIMITED, OVERLOADED
   */
  lookUp<T>(work: () => Promise<T>): Promise<T>;
}

/** Who was recognised. */
export interface Authenticated {
  /** The key, or the person of a session: whose requests are counted and whose idempotency keys are apart. */
  callerId: string;
  keyId: string | null;
  scopes: ReadonlySet<string>;
  caller: Omit<Caller, 'correlationId'>;
}

/** A page that only sends a browser on. */
export interface RedirectPage {
  path: string;
  id: string;
  answer(asked: {
    /** Where the service is reached, as `https://docket.example.org`. */
    base: string;
    secure: boolean;
    query: URLSearchParams;
    sender: Sender;
    cookie(name: string): string | undefined;
  }): Promise<{ location: string; cookies: string[] }>;
}

export interface ServerOptions {
  bindings: readonly BoundOperation[];
  /** @throws Fault UNAUTHENTICATED, DATABASE_UNAVAILABLE */
  authenticate(credentials: Credentials): Promise<Authenticated>;
  device?: DeviceCookie;
  /** Who acts in operations that ask nobody. */
  anonymous(): Omit<Caller, 'correlationId'>;
  work: Work;
  log: Logger;
  /** Whether some reads may come from a replica, so that callers are told, and tell, how far they have seen. */
  replicated?: boolean;
  /** Makes a span of each operation. */
  tracer?: Tracer | undefined;
  limits: Limits;
  health: {
    /** Whether requests can be served; `checks` names each part. Asked at most once a second. */
    ready(): Promise<{ ok: boolean; checks: Record<string, unknown> }>;
  };
  /** The OpenAPI documents, served as they are. */
  documents: { public: object; console: object };
  /** The folder of the built web console, served at `/`; without it there is none. */
  consoleFolder?: string | undefined;
  /** Where people reach the service, as `https://docket.example.org`; with https, browsers are told to use nothing else. */
  publicUrl?: string | undefined;
  /** Whom to tell of a flaw, as a URI, for `/.well-known/security.txt`. */
  securityContact?: string | undefined;
  /** Pages that only send a browser on. */
  redirects?: readonly RedirectPage[];
  /** A limiter that several processes share; else each process counts for itself. */
  rateLimiter?: RateLimiter;
  /** Values for `/metrics` beyond those of the HTTP layer: the pool, queues, workers. */
  gauges?: () => Promise<Gauge[]>;
  /** What `/metrics` answers where several processes share the address; else the figures of this one. */
  exposition?: () => Promise<string>;
}

export interface Limits {
  /** Requests a minute and caller (`DOCKET_RATE_LIMIT`). */
  ratePerMinute: number | 'off';
  /** CIDR lists (`DOCKET_TRUSTED_PROXIES`, `DOCKET_METRICS_ALLOW`). */
  trustedProxies: readonly string[];
  metricsAllow: readonly string[];
  /** Requests being worked on at once; past it 503. Default 512. */
  inFlight?: number;
  /** Requests that run at once, those that take long apart; others wait for their turn. As many as in flight unless given. */
  running?: number;
  /** Requests to open operations: in flight at once over all addresses, 64 by default, and a minute and address, 600. */
  open?: OpenLimits;
  /** Open connections; further ones are closed at once. Default 8192. */
  connections?: number;
  /** Bytes of request bodies of verified callers held at once; one caller has half of it at most. Default 256 MiB. */
  bodyBytes?: number;
  /** Bytes of large answers being sent, over all callers; one caller has half of it at most. Default 256 MiB. */
  answerBytes?: number;
  /** Milliseconds for a request to arrive whole, 28 s by default; headers get half of it. */
  receiveMs?: number;
  /** Milliseconds after which a connection through which nothing passes is closed, or whose client takes less than 64 KiB of a large answer; 13 s by default. */
  stalledMs?: number;
  /** Milliseconds for an operation that sets no limit of its own. Default 30 s. */
  operationMs?: number;
}

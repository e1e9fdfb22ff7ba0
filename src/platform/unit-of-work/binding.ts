/** Operations with their handlers, and what handlers get. `http/` turns them into routes. */
import type { Effects } from '../../contract/effects.ts';
import type { Input, Operation } from '../../contract/operation.ts';
import type { ReadContext, WriteContext, Caller } from './context.ts';
import type { ItemLookup } from './idempotency.ts';
import type { Tried, TriedUnits, Work } from './work.ts';

/** Given to operations with `unit: 'own'` instead of an open context. */
export interface Runner {
  /** In a dry run of the operation, its units are undone, and `part` is there. */
  work: Pick<Work, 'read' | 'write' | 'dryRun'> & Partial<Pick<TriedUnits, 'part'>>;
  caller: Caller;
  /**
   * Runs the one unit that answers the request. If the operation takes an `Idempotency-Key` and the key was used before,
   * returns the stored response, projected again with current rights.
   */
  write<T>(fn: (ctx: WriteContext) => Promise<T>): Promise<T>;
}

/**
 * Computes what a dry run would have done, as far as the caller may see it. `ctx` reads the state after the call.
 *
 * @param scopes of the key; null if no scopes are needed
 */
export type EffectsOf = (ctx: ReadContext, tried: Tried, scopes: ReadonlySet<string> | null) => Promise<Effects>;

/** The origin of a request, used to count sign-in attempts. */
export interface Sender {
  /** The client's address; for IPv6 its network. */
  address: string;
  /** The id of a device that was used to sign in before, from a cookie that only this service can create. */
  device: string | undefined;
}

/** Who waits for the answer of a request. */
export interface Waiter {
  callerId: string;
  /** Whether the answer was sent already, or the client is gone, so that further work is useless. */
  isGone(): boolean;
  /** Declares that the request only waits from now on, so that others can run. */
  rest(): void;
}

/** Request data that only a few operations need: sign-in and sign-out, conditional and range reads. */
export interface RequestFacts {
  ip: string;
  sender: Sender;
  sessionToken: string | undefined;
  /** The header User-Agent, shown to the owner of a session. */
  userAgent: string | undefined;
  secure: boolean;
  /** Scopes of the key, for operations whose response includes more if the key has them; null if no scopes are needed. */
  scopes: ReadonlySet<string> | null;
  waiter: Waiter;
  range?: string | undefined;
  /** The range applies only if the ETag matches; otherwise the whole content is returned. */
  ifRange?: string | undefined;
  ifNoneMatch?: string | undefined;
  /** Whether the client asks for server-sent events (`Accept: text/event-stream`). */
  wantsEvents?: boolean;
  /** The header Last-Event-ID, which a client sends when it opens a stream again. */
  lastEventId?: string | undefined;
}

/** Sends the events of one stream. The HTTP layer implements it. */
export interface EventSink {
  /**
   * The caller with current rights. Call it before each computation of what is sent.
   *
   * @throws Fault UNAUTHENTICATED if the key or the session has ended
   */
  caller(): Promise<Caller>;
  /** Sends one server-sent event. @param data its text, for example JSON */
  send(event: { event: string; data: string; id?: string }): void;
  /**
   * Tells the client the id to go on from although there is no event: at the first call at once, afterwards in a fixed rhythm.
   *
   * @param id makes the id each time it is sent, so that the texts do not show whether it moved
   */
  mark(id: () => string): void;
  /** Resolves when the client can take more, or has left. Await it between parts of a long stream. */
  drained(): Promise<void>;
  /** Ends the stream. Browsers open a new one. */
  end(): void;
}

/**
 * The response of an operation that sends events without an end. The HTTP layer limits the number of streams, keeps the
 * connection alive, and ends it when the client leaves or the service stops (`http/event-streams.ts`).
 */
export class EventStream {
  readonly open: (sink: EventSink) => () => void;

  /** @param open called once when the stream is admitted. It returns a function that is called once when the stream has ended */
  constructor(open: (sink: EventSink) => () => void) {
    this.open = open;
  }
}

/** What a delayed reply may use while it waits. */
export interface Waiting {
  /**
   * The caller with current rights. Call it before each computation.
   *
   * @throws Fault UNAUTHENTICATED if the key or the session has ended
   */
  caller(): Promise<Caller>;
  /** Aborted when the client leaves or the service stops; then answer at once. */
  signal: AbortSignal;
}

/**
 * The response of an operation that waits for something to happen. Meanwhile the request does not count as running
 * (`http/event-streams.ts`).
 */
export class DelayedReply {
  readonly make: (waiting: Waiting) => Promise<unknown>;

  /** @param make called once; resolves with the data of the response */
  constructor(make: (waiting: Waiting) => Promise<unknown>) {
    this.make = make;
  }
}

export interface BoundOperation {
  operation: Operation;
  run(context: ReadContext | WriteContext | Runner, input: Input<Operation>, request: RequestFacts): Promise<unknown>;
  /**
   * Projects a stored response again with the caller's current rights (docs/spec/conventions.md#idempotency). `item` is the row
   * that `item` of the binding found; undefined if there is none.
   */
  replay?: Replay | undefined;
  /** Finds the item that a stored response is about, in the statement that finds the response. */
  item?: ItemLookup | undefined;
}

type Replay = (context: ReadContext, data: unknown, item: object | undefined) => Promise<unknown>;

export type ContextOf<O extends Operation> = O['unit'] extends 'write'
  ? WriteContext
  : O['unit'] extends 'own'
    ? Runner
    : ReadContext;

/** A request described as data. */
export interface DescribedRequest {
  /** In capital letters. */
  method: string;
  /** With the prefix of the API, without a query. */
  path: string;
  /** The text after the question mark; empty if there is none. */
  query: string;
  /** A JSON value; undefined without a body. */
  body: unknown;
}

/** The scopes of the key that the request is run with. */
export interface HeldScopes {
  scopes: ReadonlySet<string>;
  /** @throws Fault SCOPE_MISSING */
  require(scope: string): void;
}

/** A described request whose operation is known. */
export interface FoundRequest {
  operation: Operation;
  surface: 'public' | 'console';
  params: Readonly<Record<string, string>>;
  /**
   * Runs the operation in a transaction that is undone.
   *
   * @param waiter who asked for it
   * @returns the status of the answer
   * @throws Fault as the operation; OVERLOADED
   */
  tryAs(caller: Caller, work: Runner['work'], held: HeldScopes, waiter: Waiter): Promise<number>;
}

/** The facts of a request that is answered by a redirect. */
export interface RedirectRequest {
  /** Base URL of the service, as `https://docket.example.org`. */
  base: string;
  secure: boolean;
  query: URLSearchParams;
  sender: Sender;
  ip: string;
  userAgent: string | undefined;
  cookie(name: string): string | undefined;
}

export interface Redirect {
  location: string;
  cookies: string[];
}

/** A page that only redirects the browser. */
export interface RedirectPage {
  path: string;
  id: string;
  answer(request: RedirectRequest): Promise<Redirect>;
}

/** How a room ties its operations to its commands and queries; `http/` turns bindings into routes. */
import type { Input, Operation, Reply } from '../contract/operation.ts';
import type { ReadContext, WriteContext } from './context.ts';
import type { Caller, Work } from './work.ts';

/** What an operation with `unit: 'own'` gets in place of an open context. */
export interface Runner {
  work: Work;
  caller: Caller;
  /**
   * Runs the one unit that answers the request: with the caller's `Idempotency-Key` where the operation takes one, giving the
   * kept answer, projected anew, when the key was used before.
   */
  write<T>(fn: (ctx: WriteContext) => Promise<T>): Promise<T>;
}

/** From where a request comes, as attempts to sign in are counted. */
export interface Sender {
  /** The client's address; of IPv6 its network. */
  address: string;
  /** The id of a device that somebody signed in from before, taken from a cookie that only this service can make. */
  device: string | undefined;
}

/** Facts about the request that a few operations need: signing in and out, conditional and partial reads. */
export interface RequestFacts {
  ip: string;
  sender: Sender;
  sessionToken: string | undefined;
  secure: boolean;
  /** Scopes of the key, for answers that take in more where the key may ask for it; null where none are needed. */
  scopes: ReadonlySet<string> | null;
  range?: string | undefined;
  /** The range is wanted only of what has this ETag, of anything else the whole. */
  ifRange?: string | undefined;
  ifNoneMatch?: string | undefined;
}

export interface BoundOperation {
  operation: Operation;
  run(context: ReadContext | WriteContext | Runner, input: Input<Operation>, request: RequestFacts): Promise<unknown>;
  /** Projects a kept answer anew with the rights that hold now (decisions, "Idempotency"). */
  replay?(context: ReadContext, data: unknown): Promise<unknown>;
}

type ContextOf<O extends Operation> = O['unit'] extends 'write'
  ? WriteContext
  : O['unit'] extends 'own'
    ? Runner
    : ReadContext;

/** Ties one operation to its handler; the handler's types follow from the declaration. */
export function bind<const O extends Operation>(
  operation: O,
  run: (context: ContextOf<O>, input: Input<O>, request: RequestFacts) => Promise<unknown | Reply>,
  replay?: (context: ReadContext, data: unknown) => Promise<unknown>,
): BoundOperation {
  return {
    operation,
    run: run as unknown as BoundOperation['run'],
    ...(replay === undefined ? {} : { replay }),
  };
}

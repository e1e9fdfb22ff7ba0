/** Facts of a request that few operations need. Each is read from the request when it is asked for. */
import type { RequestFacts, Sender, Waiter } from '../platform/unit-of-work/binding.ts';
import type { Admission } from './admission.ts';
import type { Origin } from './address.ts';
import { singleHeader } from './headers.ts';
import type { RequestContext } from './request-context.ts';
import type { Callers } from './caller.ts';

/** A class, because an object literal with getters makes a new hidden class of the engine for each request. */
export class ReceivedFacts implements RequestFacts {
  readonly sessionToken: string | undefined;
  readonly #sender: Callers['sender'];
  readonly #context: RequestContext;
  readonly #origin: Origin;
  readonly #admission: Admission | undefined;

  constructor(
    { sender }: Pick<Callers, 'sender'>,
    context: RequestContext,
    { origin, sessionToken, admission }: RequestOrigin,
  ) {
    this.sessionToken = sessionToken;
    this.#sender = sender;
    this.#context = context;
    this.#origin = origin;
    this.#admission = admission;
  }

  get ip(): string {
    return this.#origin.ip;
  }

  /** Opening the cookie of a device costs a decryption. */
  get sender(): Sender {
    return this.#sender(this.#context.request, this.#origin.ip);
  }

  get userAgent(): string | undefined {
    return this.#context.request.headers['user-agent'];
  }

  get secure(): boolean {
    return this.#origin.secure;
  }

  get scopes(): ReadonlySet<string> | null {
    return this.#context.scopes;
  }

  get waiter(): Waiter {
    const context = this.#context;
    return {
      callerId: context.callerId ?? context.ip ?? '',
      isGone: () => context.answered || context.response.destroyed,
      rest: () => this.#admission?.rest(),
    };
  }

  /** RFC 9110 defines ranges only for GET; HEAD describes the complete content. */
  get range(): string | undefined {
    const { method, headers } = this.#context.request;
    return method === 'GET' ? headers.range : undefined;
  }

  get ifRange(): string | undefined {
    return singleHeader(this.#context.request, 'if-range');
  }

  get ifNoneMatch(): string | undefined {
    return this.#context.request.headers['if-none-match'];
  }

  get wantsEvents(): boolean {
    return /(?:^|,)\s*text\/event-stream\b/i.test(this.#context.request.headers.accept ?? '');
  }

  get lastEventId(): string | undefined {
    return singleHeader(this.#context.request, 'last-event-id');
  }
}

interface RequestOrigin {
  origin: Origin;
  sessionToken: string | undefined;
  /** Undefined for an open operation. */
  admission: Admission | undefined;
}

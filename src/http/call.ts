/** Calls a handler in the unit of work that its operation declares. */
import { type Input, type Operation, Reply } from '../contract/operation.ts';
import type { RequestFacts, Runner } from '../platform/unit-of-work/binding.ts';
import type { WriteContext, Caller } from '../platform/unit-of-work/context.ts';
import type { IdempotencyClaim, KeptAnswer } from '../platform/unit-of-work/idempotency.ts';
import type { Work } from '../platform/unit-of-work/work.ts';
import type { Prepared } from './route.ts';

/** One call of a handler: its inputs, and facts about the result. */
export class Call {
  readonly #work: Work;
  readonly #prepared: Prepared;
  readonly #caller: Caller;
  readonly #claim: IdempotencyClaim | undefined;
  /** The status of the stored response if it is replayed, else undefined. */
  replayed: number | undefined;

  constructor(work: Work, prepared: Prepared, caller: Caller, claim: IdempotencyClaim | undefined) {
    this.#work = work;
    this.#prepared = prepared;
    const { via } = prepared.binding.operation;
    this.#caller = via === undefined ? caller : { ...caller, via };
    this.#claim = claim;
  }

  run(input: Input<Operation>, facts: RequestFacts): Promise<unknown> {
    const { binding } = this.#prepared;
    const work = this.#work;
    const caller = this.#caller;
    switch (binding.operation.unit) {
      case 'read':
        return work.read(caller, (ctx) => binding.run(ctx, input, facts));
      case 'snapshot':
        return work.read(caller, (ctx) => binding.run(ctx, input, facts), { snapshot: true });
      case 'write':
        return this.#write((ctx) => binding.run(ctx, input, facts));
      case 'own': {
        const runner: Runner = { work, caller, write: (fn) => this.#write(fn) };
        return binding.run(runner, input, facts);
      }
    }
  }

  async #write<T>(fn: (ctx: WriteContext) => Promise<T>): Promise<T> {
    const claim = this.#claim;
    let reply: Reply | undefined;
    const result = await this.#work.write(
      this.#caller,
      async (ctx) => {
        const answered = await fn(ctx);
        reply = answered instanceof Reply ? answered : undefined;
        if (reply === undefined) return answered;
        // The stored response is the data alone, with the status sent now.
        if (claim !== undefined) claim.status = reply.status ?? this.#prepared.binding.operation.status;
        return reply.data;
      },
      claim === undefined ? {} : { idempotency: claim },
    );
    if (result.kind === 'replay') return (await this.#replay(result.answer)) as T;
    return (reply ?? result.data) as T;
  }

  async #replay(answer: KeptAnswer): Promise<unknown> {
    this.replayed = answer.status;
    const project = this.#prepared.binding.replay?.bind(this.#prepared.binding);
    if (project === undefined) return answer.data;
    return await this.#work.read(this.#caller, (ctx) => project(ctx, answer.data));
  }
}

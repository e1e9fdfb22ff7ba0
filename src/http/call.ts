/** Calls a handler in the unit of work that its operation declares. */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { type Effects, joinEffects } from '../contract/effects.ts';
import { type Input, type Operation, Reply } from '../contract/operation.ts';
import type { EffectsOf, RequestFacts, Runner } from '../platform/unit-of-work/binding.ts';
import type { Caller, WriteContext } from '../platform/unit-of-work/context.ts';
import type { IdempotencyClaim, KeptAnswer } from '../platform/unit-of-work/idempotency.ts';
import type { DryRunLimits } from '../platform/unit-of-work/transactions.ts';
import type { TriedUnits } from '../platform/unit-of-work/work.ts';

import { overloaded } from './admission.ts';
import { firstByte } from './request-context.ts';
import type { Prepared } from './route.ts';
import { Slots } from './slots.ts';

const DRY_RUN_LIMITS: DryRunLimits = { lockMs: 1000, totalMs: 10_000 };
/** The dry runs of this process, those of explanations included. */
const MAX_WAITING = 32;
const DRY_RUNS = new Slots({
  most: 4,
  mostEach: 3,
  mostWaiting: MAX_WAITING,
  refusal: () => overloaded(`You have ${MAX_WAITING} waiting dry runs. Retry after the time in Retry-After.`),
});

/** One call of a handler: its inputs, and facts about the result. */
export class Call {
  readonly #work: Runner['work'];
  readonly #prepared: Prepared;
  readonly #caller: Caller;
  readonly #claim: IdempotencyClaim | undefined;
  readonly #onWait: (() => void) | undefined;
  /** The status of the stored response if it is replayed, else undefined. */
  replayed: number | undefined;

  /** @param onWait called when its unit of work starts to wait for another one */
  constructor(
    work: Runner['work'],
    prepared: Prepared,
    caller: Caller,
    claim: IdempotencyClaim | undefined,
    onWait?: () => void,
  ) {
    this.#work = work;
    this.#prepared = prepared;
    const { via } = prepared.binding.operation;
    this.#caller = via === undefined ? caller : { ...caller, via };
    this.#claim = claim;
    this.#onWait = onWait;
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

  /** Runs the handler in a transaction that is undone, and answers with the effects in `meta`. */
  async dryRun(input: Input<Operation>, facts: RequestFacts, effectsOf: EffectsOf): Promise<Reply> {
    const work = this.#work;
    const parts: Effects[] = [];
    const collect = async (units: TriedUnits): Promise<void> => {
      if (units.events.length === 0 && units.reactions.length === 0) return;
      parts.push(await units.read(this.#caller, (ctx) => effectsOf(ctx, units, facts.scopes)));
    };
    const run = (units: TriedUnits): Promise<unknown> => this.#tried(units, input, facts);
    const answered = await DRY_RUNS.run(() => work.dryRun(run, DRY_RUN_LIMITS, collect), facts.waiter);
    const reply = answered instanceof Reply ? answered : new Reply(answered);
    const meta = { ...reply.meta, dryRun: true as const, effects: joinEffects(parts) };
    return new Reply(reply.data, reply.headers, reply.status, reply.closed, meta);
  }

  /** Runs the handler, of reads too, in a transaction that is undone. @returns the status of its answer */
  async statusOf(input: Input<Operation>, facts: RequestFacts): Promise<number> {
    const run = async (units: TriedUnits): Promise<number> => {
      const result = await new Call(units, this.#prepared, this.#caller, undefined).run(input, facts);
      const reply = result instanceof Reply ? result : new Reply(result);
      if (reply.data instanceof Readable) await begin(reply.data);
      reply.closed?.();
      return reply.status ?? this.#prepared.binding.operation.status;
    };
    const work = this.#work;
    return await DRY_RUNS.run(() => work.dryRun(run, DRY_RUN_LIMITS), facts.waiter);
  }

  async #tried(units: TriedUnits, input: Input<Operation>, facts: RequestFacts): Promise<unknown> {
    const { binding } = this.#prepared;
    const caller = this.#caller;
    const write = async <T>(fn: (ctx: WriteContext) => Promise<T>): Promise<T> => {
      let reply: Reply | undefined;
      const result = await units.write(caller, async (ctx) => {
        const answered = await fn(ctx);
        reply = answered instanceof Reply ? answered : undefined;
        return (reply === undefined ? answered : reply.data) as T;
      });
      if (result.kind !== 'done') throw new Error('a dry run cannot be a replay');
      return (reply ?? result.data) as T;
    };
    if (binding.operation.unit === 'write') return await write((ctx) => binding.run(ctx, input, facts));
    return await binding.run({ work: units, caller, write }, input, facts);
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
      { onWait: this.#onWait, ...(claim === undefined ? {} : { idempotency: claim }) },
    );
    if (result.kind === 'replay') return (await this.#replay(result.answer)) as T;
    return (reply ?? result.data) as T;
  }

  async #replay(answer: KeptAnswer): Promise<unknown> {
    this.replayed = answer.status;
    const { replay } = this.#prepared.binding;
    if (replay === undefined) return answer.data;
    return await this.#work.read(this.#caller, (ctx) => replay(ctx, answer.data, answer.item));
  }
}

/** Reads the beginning of the content: errors before it are answers. */
async function begin(content: Readable): Promise<void> {
  const closed = content.closed ? Promise.resolve() : once(content, 'close');
  try {
    await firstByte(content);
  } finally {
    content.on('error', () => {}).destroy();
    await closed.catch(() => {});
  }
}

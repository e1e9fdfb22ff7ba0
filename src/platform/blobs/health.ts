/**
 * Whether the store of file content answers, for readiness. It is probed now and then in the background, so that no request
 * waits for a store that hangs, and a paid store is not written to with each question of a load balancer.
 */
import { loggable } from '../../lib/loggable.ts';
import type { BlobStore } from './store.ts';

/** `never`: it has not answered since the start, so nothing says that its settings are right. */
export type BlobState = 'ok' | 'unavailable' | 'never';

export interface BlobHealthOptions {
  /** Called when the state changes, with the error where the store stopped to answer, and again while that lasts. */
  onChange: (state: BlobState, error: unknown) => void;
  /** Milliseconds between probes of a store that answers; 30,000 unless said. */
  everyMs?: number | undefined;
  /** Milliseconds between probes of one that does not; 2,000 unless said. */
  failedEveryMs?: number | undefined;
}

const EVERY_MS = 30_000;
const FAILED_EVERY_MS = 2000;
/** How long a question waits for a probe that is due. */
const PATIENCE_MS = 1000;
/** A probe that takes longer counts as failed until it succeeds. */
const SLOW_MS = 5000;
/** How often the log repeats that the store does not answer. */
const REPEAT_MS = 600_000;

export class BlobHealth {
  readonly #blobs: Pick<BlobStore, 'check'>;
  readonly #options: BlobHealthOptions;
  #answered = false;
  #failed = false;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #startedAt = Number.NEGATIVE_INFINITY;
  #saidAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(blobs: Pick<BlobStore, 'check'>, options: BlobHealthOptions) {
    this.#blobs = blobs;
    this.#options = options;
  }

  /** What is known now; a probe is started where one is due, and waited for no longer than a second. */
  async state(): Promise<BlobState> {
    const healthy = this.#answered && !this.#failed;
    const { everyMs = EVERY_MS, failedEveryMs = FAILED_EVERY_MS } = this.#options;
    const due = performance.now() - this.#checkedAt >= (healthy ? everyMs : failedEveryMs);
    if (due) this.#running ??= this.#probe().finally(() => (this.#running = undefined));
    if (this.#running !== undefined) {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, PATIENCE_MS);
      await Promise.race([this.#running, late.promise]);
      clearTimeout(timer);
    }
    return this.#state();
  }

  #state(): BlobState {
    if (!this.#answered) return 'never';
    const stuck = this.#running !== undefined && performance.now() - this.#startedAt > SLOW_MS;
    return this.#failed || stuck ? 'unavailable' : 'ok';
  }

  async #probe(): Promise<void> {
    this.#startedAt = performance.now();
    try {
      await this.#blobs.check();
      if (this.#failed) this.#options.onChange('ok', undefined);
      this.#answered = true;
      this.#failed = false;
    } catch (error) {
      if (!this.#failed || performance.now() - this.#saidAt > REPEAT_MS) {
        this.#saidAt = performance.now();
        this.#options.onChange(this.#answered ? 'unavailable' : 'never', error);
      }
      this.#failed = true;
    }
    this.#checkedAt = performance.now();
  }
}

/** Logs when the file store becomes unavailable, with the reason, and when it is available again. */
export function storeLogger(log: {
  info(message: string): void;
  warn(fields: object, message: string): void;
}): BlobHealthOptions['onChange'] {
  return (state, error) => {
    if (state === 'ok') log.info('file store available again');
    else log.warn({ err: loggable(error) }, `file store unavailable: ${(error as Error).message}`);
  };
}

/** What the first process of `serve --processes N` and those that it started say to each other. */

/** The figures of one process in Prometheus' text form; null where it did not answer in time. */
export interface Figures {
  process: string;
  text: string | null;
}

export type FromChild =
  | { docket: 'ready'; address: string | null }
  | { docket: 'failed'; message: string }
  /** Its own figures, asked for by `ask`. */
  | { docket: 'figures'; ask: number; text: string }
  /** Wants those of all. */
  | { docket: 'collect'; ask: number };

export type ToChild = { docket: 'figures'; ask: number } | { docket: 'collected'; ask: number; parts: Figures[] };

export function isMessage<T extends FromChild | ToChild>(message: unknown): message is T {
  return typeof message === 'object' && message !== null && Object.hasOwn(message, 'docket');
}

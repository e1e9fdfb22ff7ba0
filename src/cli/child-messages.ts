/** What the first process of `serve --processes N` and those that it started say to each other. */

/** The figures of one process in Prometheus' text form; null where it did not answer in time. */
export interface Figures {
  process: string;
  text: string | null;
}

export type FromChild =
  | { docket: 'ready' }
  /** Has the connection that was offered by that number; nothing of it was read before this was said. */
  | { docket: 'took'; connection: number }
  /** Did not take it, and read nothing of it. */
  | { docket: 'returned'; connection: number }
  /** Finishes what it does, and takes no more. */
  | { docket: 'leaving' }
  | { docket: 'failed'; message: string }
  /** Its own figures, asked for by `ask`. */
  | { docket: 'figures'; ask: number; text: string }
  /** Wants those of all. */
  | { docket: 'collect'; ask: number };

export type ToChild =
  /** Comes with a connection. */
  | { docket: 'connection'; connection: number }
  | { docket: 'figures'; ask: number }
  | { docket: 'collected'; ask: number; parts: Figures[] };

export function isMessage<T extends FromChild | ToChild>(message: unknown): message is T {
  return typeof message === 'object' && message !== null && Object.hasOwn(message, 'docket');
}

/** IPC messages between the supervisor of `serve --processes N` and its child processes. */

/** The metrics of one process in Prometheus text format; null if it did not answer in time. */
export interface ProcessMetrics {
  process: string;
  text: string | null;
}

export type FromChild =
  | { docket: 'ready' }
  /** The child accepted the connection of that number. It read nothing before this message. */
  | { docket: 'took'; connection: number }
  /** The child did not accept the connection and read nothing from it. */
  | { docket: 'returned'; connection: number }
  /** The child is draining and accepts no more connections. */
  | { docket: 'leaving' }
  | { docket: 'failed'; message: string }
  /** The child's own metrics, in reply to `ask`. */
  | { docket: 'figures'; ask: number; text: string }
  /** The child requests the metrics of all processes. */
  | { docket: 'collect'; ask: number };

export type ToChild =
  /** Sent together with a socket handle. */
  | { docket: 'connection'; connection: number }
  | { docket: 'figures'; ask: number }
  | { docket: 'collected'; ask: number; parts: ProcessMetrics[] };

export function isMessage<T extends FromChild | ToChild>(message: unknown): message is T {
  return typeof message === 'object' && message !== null && Object.hasOwn(message, 'docket');
}

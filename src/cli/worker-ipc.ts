/** Worker IPC: messages between the supervisor and its child processes, and how a child process of `serve --processes N` communicates with the supervisor. */
import { Socket } from 'node:net';
import { mergeMetrics, type ProcessMetrics } from '../http/metrics.ts';

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

const COLLECT_MS = 2000;

export class WorkerIpc {
  readonly #asked = new Map<number, (parts: ProcessMetrics[]) => void>();
  #asks = 0;
  #metrics: (() => Promise<string>) | undefined;
  #take: ((socket: Socket) => boolean) | undefined;
  #leaving = false;

  constructor() {
    process.on('message', (message: unknown, handle: unknown) => {
      if (!isMessage<ToChild>(message)) return;
      switch (message.docket) {
        case 'connection':
          this.#offered(message.connection, handle);
          break;
        case 'figures':
          void this.#answer(message.ask);
          break;
        case 'collected':
          this.#asked.get(message.ask)?.(message.parts);
          this.#asked.delete(message.ask);
          break;
      }
    });
    // Without the supervisor nothing passes connections to this process or restarts it. It may already be gone.
    // Without `send` there never was a parent with a channel: a command that was started by hand.
    if (process.send !== undefined && !process.connected) process.exit(1);
    process.on('disconnect', () => {
      if (!this.#leaving) process.exit(1);
    });
  }

  #offered(connection: number, socket: unknown): void {
    // Node passes no handle if the connection broke during the transfer.
    if (!(socket instanceof Socket)) {
      this.#say({ docket: 'took', connection });
    } else if (this.#take === undefined || this.#leaving) {
      socket.on('error', () => {});
      socket.destroy();
      this.#say({ docket: 'returned', connection });
    } else {
      this.#takes(connection, socket, this.#take);
    }
  }

  /**
   * Reports `took` before reading. If a process read first and was then killed, the data would be lost for the next process.
   */
  #takes(connection: number, socket: Socket, take: (socket: Socket) => boolean): void {
    const broken = (): void => {};
    socket.on('error', broken);
    this.#say({ docket: 'took', connection }, () => {
      // The server started to close in between. The connection was reported as accepted here, so it is closed here.
      if (!take(socket)) socket.destroy();
      socket.off('error', broken);
    });
  }

  async #answer(ask: number): Promise<void> {
    try {
      this.#say({ docket: 'figures', ask, text: (await this.#metrics?.()) ?? '' });
    } catch {
      // The supervisor continues without these metrics.
    }
  }

  // The supervisor may be gone; the `disconnect` listener handles that.
  #say(message: FromChild, then: () => void = () => {}): void {
    if (process.send === undefined || !process.connected) then();
    else process.send(message, undefined, undefined, () => then());
  }

  /**
   * Announces that the process is ready. `take` serves a connection and returns false if the server is closing. Without `take`,
   * this process gets no connections.
   */
  ready(metrics: () => Promise<string>, take: ((socket: Socket) => boolean) | undefined): void {
    this.#metrics = metrics;
    this.#take = take;
    this.#say({ docket: 'ready' });
  }

  /** Accepts no more connections. Those in transit are returned and passed to other processes. */
  leaving(): void {
    this.#leaving = true;
    this.#say({ docket: 'leaving' });
  }

  failed(message: string): Promise<void> {
    return new Promise((resolve) => this.#say({ docket: 'failed', message }, resolve));
  }

  /** The merged metrics of all processes; each sample has the label `process`. */
  async collect(): Promise<string> {
    const ask = ++this.#asks;
    const { promise, resolve } = Promise.withResolvers<ProcessMetrics[]>();
    this.#asked.set(ask, resolve);
    const timer = setTimeout(() => resolve([]), COLLECT_MS);
    this.#say({ docket: 'collect', ask });
    const parts = await promise;
    clearTimeout(timer);
    this.#asked.delete(ask);
    return mergeMetrics(parts);
  }

  /** Closes the IPC channel, so that this process can exit. */
  leave(): void {
    this.#leaving = true;
    if (process.connected) process.disconnect?.();
  }
}

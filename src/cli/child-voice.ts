/** How a process that was started by `serve --processes N` speaks with the first one. */
import { Socket } from 'node:net';
import { mergeFigures } from '../http/figures.ts';
import { type Figures, type FromChild, isMessage, type ToChild } from './child-messages.ts';

const COLLECT_MS = 2000;

export class ChildVoice {
  readonly #asked = new Map<number, (parts: Figures[]) => void>();
  #asks = 0;
  #figures: (() => Promise<string>) | undefined;
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
    // Without the first process nobody hands out connections or starts this one again. It may have ended before this line.
    if (!process.connected) process.exit(1);
    process.on('disconnect', () => {
      if (!this.#leaving) process.exit(1);
    });
  }

  #offered(connection: number, socket: unknown): void {
    // Node hands over nothing where the connection broke on its way.
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

  /** Says so first: what was read by a process that is killed before it said so would be lost for the next one. */
  #takes(connection: number, socket: Socket, take: (socket: Socket) => boolean): void {
    const broken = (): void => {};
    socket.on('error', broken);
    this.#say({ docket: 'took', connection }, () => {
      // Closing since then: as it is said to be here, it is closed here.
      if (!take(socket)) socket.destroy();
      socket.off('error', broken);
    });
  }

  async #answer(ask: number): Promise<void> {
    try {
      this.#say({ docket: 'figures', ask, text: (await this.#figures?.()) ?? '' });
    } catch {
      // The first process goes on without them.
    }
  }

  // The first process may be gone already; what follows from that follows from the disconnection.
  #say(message: FromChild, then: () => void = () => {}): void {
    if (process.send === undefined || !process.connected) then();
    else process.send(message, undefined, undefined, () => then());
  }

  /** `take`: serves a connection; false where it does so no more. Without it, this process is offered none. */
  ready(figures: () => Promise<string>, take: ((socket: Socket) => boolean) | undefined): void {
    this.#figures = figures;
    this.#take = take;
    this.#say({ docket: 'ready' });
  }

  /** From now on it takes no connection; those that are on their way go to others. */
  leaving(): void {
    this.#leaving = true;
    this.#say({ docket: 'leaving' });
  }

  failed(message: string): Promise<void> {
    return new Promise((resolve) => this.#say({ docket: 'failed', message }, resolve));
  }

  /** The figures of all processes as one text; each sample says of which it is. */
  async collect(): Promise<string> {
    const ask = ++this.#asks;
    const { promise, resolve } = Promise.withResolvers<Figures[]>();
    this.#asked.set(ask, resolve);
    const timer = setTimeout(() => resolve([]), COLLECT_MS);
    this.#say({ docket: 'collect', ask });
    const parts = await promise;
    clearTimeout(timer);
    this.#asked.delete(ask);
    return mergeFigures(parts);
  }

  /** Lets this process end. */
  leave(): void {
    this.#leaving = true;
    if (process.connected) process.disconnect?.();
  }
}

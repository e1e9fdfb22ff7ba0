/** How a process that was started by `serve --processes N` speaks with the first one. */
import cluster from 'node:cluster';
import { mergeFigures } from '../http/figures.ts';
import { type Figures, type FromChild, isMessage, type ToChild } from './child-messages.ts';

const COLLECT_MS = 2000;

export class ChildVoice {
  readonly #asked = new Map<number, (parts: Figures[]) => void>();
  #asks = 0;
  #figures: (() => Promise<string>) | undefined;

  constructor() {
    process.on('message', (message: unknown) => {
      if (!isMessage<ToChild>(message)) return;
      if (message.docket === 'figures') void this.#answer(message.ask);
      else {
        this.#asked.get(message.ask)?.(message.parts);
        this.#asked.delete(message.ask);
      }
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

  ready(address: string | undefined, figures: () => Promise<string>): void {
    this.#figures = figures;
    this.#say({ docket: 'ready', address: address ?? null });
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
    cluster.worker?.disconnect();
  }
}

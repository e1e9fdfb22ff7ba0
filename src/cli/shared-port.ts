/**
 * One port for several processes. The first process accepts connections, unread, and gives each in turn to one that serves;
 * it keeps its own copy until that one says that it has it. What a process that was killed had not taken goes to another, so
 * that no client waits for an answer that nobody is going to give (decision 0017).
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BACKLOG, hostsOf, type Place, urlOf, whyNot } from './listening.ts';

/** A process that serves. */
export interface Taker {
  /** Sends it a copy of the connection. What goes wrong there shows by its end. */
  give(connection: number, socket: Socket): void;
}

export interface Bounds {
  /** Connections that wait while nobody takes them; those beyond are closed. */
  waiting: number;
  /** Connections that one process may have been given and not yet taken: one that stands still holds up no more. */
  untaken: number;
  /** Whoever waited this long without being taken is closed, so that a client learns of it. In ms. */
  held: number;
}

const BOUNDS: Bounds = { waiting: 1024, untaken: 8, held: 30_000 };

interface Held {
  connection: number;
  socket: Socket;
  since: number;
  /** Undefined while it waits. */
  taker: Taker | undefined;
}

export class SharedPort {
  readonly #bounds: Bounds;
  readonly #complain: (what: object, sentence: string) => void;
  readonly #servers: Server[] = [];
  /** In the order of their turns. */
  #takers: Taker[] = [];
  readonly #waiting: Held[] = [];
  readonly #given = new Map<number, Held>();
  readonly #sweeper: NodeJS.Timeout;
  #last = 0;
  #closed = 0;

  /** `complain` is told what cannot be helped: connections that were closed, errors of the listening port. */
  constructor(complain: (what: object, sentence: string) => void, bounds: Partial<Bounds> = {}) {
    this.#complain = complain;
    this.#bounds = { ...BOUNDS, ...bounds };
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(1000, this.#bounds.held / 2)).unref();
  }

  /**
   * Listens; connections wait until somebody takes them.
   *
   * @returns the address as a URL
   * @throws Error with a sentence that says what to do
   */
  async listen({ host, port }: Place): Promise<string> {
    const [first = host, ...others] = await hostsOf(host).catch((error: unknown) => {
      throw whyNot(error, { host, port });
    });
    const address = await this.#listenAt({ host: first, port }).catch((error: unknown) => {
      throw whyNot(error, { host, port });
    });
    for (const other of others) await this.#listenAt({ host: other, port: address.port }).catch(() => undefined);
    return urlOf(address);
  }

  async #listenAt(place: Place): Promise<AddressInfo> {
    // Nothing is read here, and a delay of small packets is a matter of the connection, whoever holds it.
    const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true });
    server.on('connection', (socket) => this.#accepted(socket));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.on('error', (error) => {
      reject(error);
      if (server.listening) this.#complain({ err: error }, 'a connection could not be accepted');
    });
    server.listen({ ...place, backlog: BACKLOG }, resolve);
    await promise;
    this.#servers.push(server);
    return server.address() as AddressInfo;
  }

  #accepted(socket: Socket): void {
    // Without a listener, a connection that breaks while it waits would end this process.
    socket.on('error', () => {});
    if (this.#waiting.length >= this.#bounds.waiting) {
      this.#closed += 1;
      socket.destroy();
      return;
    }
    this.#waiting.push({ connection: ++this.#last, socket, since: performance.now(), taker: undefined });
    this.#handOut();
  }

  /** From now on it takes its turn. */
  join(taker: Taker): void {
    if (!this.#takers.includes(taker)) this.#takers.push(taker);
    this.#handOut();
  }

  /** It is given no more. What it was given stays with it until it says so or has ended. */
  leave(taker: Taker): void {
    this.#takers = this.#takers.filter((other) => other !== taker);
  }

  /** It has the connection: closing the copy here does not end what the other holds. */
  taken(taker: Taker, connection: number): void {
    if (!this.#release(taker, connection)) return;
    this.#handOut();
  }

  /** It does not want the connection, of which it read nothing. */
  returned(taker: Taker, connection: number): void {
    const held = this.#given.get(connection);
    if (held?.taker !== taker) return;
    this.#given.delete(connection);
    this.#again([held]);
  }

  /** It is no more, and all that it said was heard: what it had not taken, nobody has read. */
  ended(taker: Taker): void {
    this.leave(taker);
    const left = [...this.#given.values()].filter((held) => held.taker === taker);
    for (const { connection } of left) this.#given.delete(connection);
    this.#again(left);
  }

  // Before those that came later, and in the order in which they came.
  #again(left: readonly Held[]): void {
    for (const held of left) held.taker = undefined;
    this.#waiting.unshift(...left);
    this.#handOut();
  }

  #handOut(): void {
    while (this.#waiting.length > 0) {
      const taker = this.#turn();
      if (taker === undefined) return;
      const held = this.#waiting.shift() as Held;
      // It may have broken while it waited.
      if (held.socket.destroyed) continue;
      held.taker = taker;
      this.#given.set(held.connection, held);
      taker.give(held.connection, held.socket);
    }
  }

  /** The next that may be given one; it goes to the end of the line. */
  #turn(): Taker | undefined {
    const untaken = new Map<Taker | undefined, number>();
    for (const { taker } of this.#given.values()) untaken.set(taker, (untaken.get(taker) ?? 0) + 1);
    const index = this.#takers.findIndex((taker) => (untaken.get(taker) ?? 0) < this.#bounds.untaken);
    if (index < 0) return undefined;
    const [taker] = this.#takers.splice(index, 1);
    this.#takers.push(taker as Taker);
    return taker;
  }

  #release(taker: Taker, connection: number): boolean {
    const held = this.#given.get(connection);
    if (held?.taker !== taker) return false;
    this.#given.delete(connection);
    held.socket.destroy();
    return true;
  }

  #sweep(): void {
    const before = performance.now() - this.#bounds.held;
    while ((this.#waiting[0]?.since ?? before) < before) {
      this.#closed += 1;
      this.#waiting.shift()?.socket.destroy();
    }
    // One that is taken after all goes on: this closes the copy alone. One that never arrived is closed by it.
    for (const held of this.#given.values())
      if (held.since < before) this.#release(held.taker as Taker, held.connection);
    if (this.#closed > 0) {
      this.#complain({ connections: this.#closed }, 'connections were closed that no process took in time');
      this.#closed = 0;
    }
  }

  /** Listens no more, and waits for at most `ms` until those that came are taken; the rest is closed. */
  async close(ms: number): Promise<void> {
    // Their ends are not waited for: that would be until the last connection of all processes is closed.
    for (const server of this.#servers) server.close();
    const until = performance.now() + ms;
    const open = (): boolean => (this.#takers.length > 0 && this.#waiting.length > 0) || this.#given.size > 0;
    while (open() && performance.now() < until) await sleep(10);
    clearInterval(this.#sweeper);
    for (const { socket } of this.#waiting.splice(0)) socket.destroy();
    for (const { socket } of this.#given.values()) socket.destroy();
    this.#given.clear();
  }
}

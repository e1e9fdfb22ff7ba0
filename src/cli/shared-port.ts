/**
 * One port for several processes. The supervisor accepts connections without reading and passes each to a serving process,
 * round-robin. It keeps its own copy until that process confirms the connection. Unconfirmed connections of a killed process go
 * to another one, so that no client waits for an answer that will never come (ADR 0014).
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BACKLOG, hostsOf, type ListenAddress, urlOf, whyNot } from './listeners.ts';

/** A serving process. */
export interface Taker {
  /** Sends a copy of the connection to the process. Errors show as the end of the process. */
  give(connection: number, socket: Socket): void;
}

export interface Bounds {
  /** Maximum number of connections waiting for a process; further ones are closed. */
  waiting: number;
  /** Maximum number of unconfirmed connections per process, so that a process that hangs holds no more than these. */
  untaken: number;
  /** Connections not confirmed after this time are closed, so that the client notices. In ms. */
  held: number;
}

const BOUNDS: Bounds = { waiting: 1024, untaken: 8, held: 30_000 };

interface PendingConnection {
  connection: number;
  socket: Socket;
  since: number;
  /** Undefined while the connection waits. */
  taker: Taker | undefined;
}

export class SharedPort {
  readonly #bounds: Bounds;
  readonly #complain: (what: object, sentence: string) => void;
  readonly #servers: Server[] = [];
  /** In round-robin order. */
  #takers: Taker[] = [];
  readonly #waiting: PendingConnection[] = [];
  readonly #given = new Map<number, PendingConnection>();
  readonly #sweeper: NodeJS.Timeout;
  #last = 0;
  #closed = 0;

  /** `complain` receives errors for the log: closed connections, errors of the listening port. */
  constructor(complain: (what: object, sentence: string) => void, bounds: Partial<Bounds> = {}) {
    this.#complain = complain;
    this.#bounds = { ...BOUNDS, ...bounds };
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(1000, this.#bounds.held / 2)).unref();
  }

  /**
   * Listens. Connections wait until a process accepts them.
   *
   * @returns the address as a URL
   * @throws Error with a message that says what to do
   */
  async listen({ host, port }: ListenAddress): Promise<string> {
    const [first = host, ...others] = await hostsOf(host).catch((error: unknown) => {
      throw whyNot(error, { host, port });
    });
    const address = await this.#listenAt({ host: first, port }).catch((error: unknown) => {
      throw whyNot(error, { host, port });
    });
    for (const other of others) await this.#listenAt({ host: other, port: address.port }).catch(() => undefined);
    return urlOf(address);
  }

  async #listenAt(place: ListenAddress): Promise<AddressInfo> {
    // Nothing is read in this process. `noDelay` belongs to the connection and stays set in the process that gets it.
    const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true });
    server.on('connection', (socket) => this.#accepted(socket));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.on('error', (error) => {
      reject(error);
      if (server.listening) this.#complain({ err: error }, 'failed to accept a connection');
    });
    server.listen({ ...place, backlog: BACKLOG }, resolve);
    await promise;
    this.#servers.push(server);
    return server.address() as AddressInfo;
  }

  #accepted(socket: Socket): void {
    // Without a listener, an error of a waiting connection would crash this process.
    socket.on('error', () => {});
    if (this.#waiting.length >= this.#bounds.waiting) {
      this.#closed += 1;
      socket.destroy();
      return;
    }
    this.#waiting.push({ connection: ++this.#last, socket, since: performance.now(), taker: undefined });
    this.#handOut();
  }

  /** Adds the process to the rotation. */
  join(taker: Taker): void {
    if (!this.#takers.includes(taker)) this.#takers.push(taker);
    this.#handOut();
  }

  /** Removes the process from the rotation. It keeps the connections it was given until it confirms them or ends. */
  leave(taker: Taker): void {
    this.#takers = this.#takers.filter((other) => other !== taker);
  }

  /** The process has the connection. Closing the copy here does not close the connection. */
  taken(taker: Taker, connection: number): void {
    if (!this.#release(taker, connection)) return;
    this.#handOut();
  }

  /** The process rejected the connection and read nothing from it. */
  returned(taker: Taker, connection: number): void {
    const held = this.#given.get(connection);
    if (held?.taker !== taker) return;
    this.#given.delete(connection);
    this.#again([held]);
  }

  /** The process has ended and all its messages were handled. Its unconfirmed connections are unread. */
  ended(taker: Taker): void {
    this.leave(taker);
    const left = [...this.#given.values()].filter((held) => held.taker === taker);
    for (const { connection } of left) this.#given.delete(connection);
    this.#again(left);
  }

  // Before newer connections, in their original order.
  #again(left: readonly PendingConnection[]): void {
    for (const held of left) held.taker = undefined;
    this.#waiting.unshift(...left);
    this.#handOut();
  }

  #handOut(): void {
    while (this.#waiting.length > 0) {
      const taker = this.#turn();
      if (taker === undefined) return;
      const held = this.#waiting.shift() as PendingConnection;
      // It may have closed while it waited.
      if (held.socket.destroyed) continue;
      held.taker = taker;
      this.#given.set(held.connection, held);
      taker.give(held.connection, held.socket);
    }
  }

  /** The next process below its limit; it moves to the end of the rotation. */
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
    // If the process has the connection, this closes only the copy. If the transfer failed, it closes the connection.
    for (const held of this.#given.values())
      if (held.since < before) this.#release(held.taker as Taker, held.connection);
    if (this.#closed > 0) {
      this.#complain({ connections: this.#closed }, 'closed connections that no process accepted in time');
      this.#closed = 0;
    }
  }

  /** Stops listening and waits at most `ms` until all accepted connections are confirmed; then closes the rest. */
  async close(ms: number): Promise<void> {
    // The `close` events are not awaited: they fire only when the last connection of all processes is closed.
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

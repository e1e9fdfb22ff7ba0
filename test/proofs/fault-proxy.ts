/**
 * A TCP proxy before the database that breaks connections like networks do. It parses enough of the PostgreSQL protocol to
 * detect a sent write statement, so that it can cut exactly between commit and confirmation.
 */
import { createServer, connect, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** `hole`: nothing passes and no side is notified. */
export type FaultMode = 'fair' | 'hole' | 'slow' | 'slices' | 'closed';

/**
 * How a connection ends at a statement: before it reaches the database; after it ran and before the confirmation; with the
 * error of an administrator shutdown; by a reset.
 */
export type ConnectionEnd = 'unsent' | 'unconfirmed' | 'dismissed' | 'reset';

/** The message of PostgreSQL to a terminated connection (57P01). */
function dismissal(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');
  const head = Buffer.alloc(TYPE_BYTES + LENGTH_BYTES);
  head.write('E');
  head.writeInt32BE(LENGTH_BYTES + fields.length, TYPE_BYTES);
  return Buffer.concat([head, fields]);
}

const SLOW_MS = 500;
const TYPE_BYTES = 1;
const LENGTH_BYTES = 4;

/**
 * Resets a TCP connection. A Unix socket cannot be reset and is closed. So is a socket that was ended: libuv refuses to reset
 * it while its shutdown is pending, and Node.js then waits for its handle forever when the process exits.
 */
function resetSocket(socket: Socket): void {
  if (socket.remoteAddress === undefined || socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Parses client messages and reports whether the last executing one writes. */
class Frontend {
  #rest = Buffer.alloc(0);
  #started = false;
  readonly #writing = new Set<string>();
  /** A write has been sent and nothing has come back since. */
  pending = false;
  /** Statements sent so far. */
  statements = 0;

  read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const head = this.#started ? TYPE_BYTES : 0;
      if (this.#rest.length < head + LENGTH_BYTES) return;
      const length = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < length) return;
      if (this.#started) this.#message(String.fromCharCode(this.#rest[0] ?? 0), this.#rest.subarray(5, length));
      // The first message is the start-up message, which has no type. TLS is not used here.
      this.#started = true;
      this.#rest = this.#rest.subarray(length);
    }
  }

  #message(type: string, body: Buffer): void {
    if (type === 'E' || type === 'Q') this.statements++;
    const [first = '', second = ''] = body.toString('latin1').split('\0', 2);
    if (type === 'P') {
      if (second.includes('INSERT INTO journal')) this.#writing.add(first);
      else this.#writing.delete(first);
    } else if (type === 'B' && this.#writing.has(second)) this.pending = true;
    else if (type === 'Q' && first === 'COMMIT') this.pending = true;
  }
}

export class FaultProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  weather: FaultMode = 'fair';
  /** How many answers to writes are yet to be cut off. */
  cutting = 0;
  /** How many were. */
  cut = 0;
  port = 0;
  /** The statement, counted over all connections from 1 on, at which its connection ends, once. */
  ending: { at: number; how: ConnectionEnd } | undefined;
  /** Statements that came while an ending was awaited. */
  #counted = 0;

  private constructor(target: { path: string } | { host: string; port: number }) {
    this.#server = createServer((client) => this.#join(client, connect(target)));
  }

  static async start(target: { host: string; port: number }): Promise<FaultProxy> {
    const socket = target.host.startsWith('/') ? { path: `${target.host}/.s.PGSQL.${target.port}` } : target;
    const proxy = new FaultProxy(socket);
    await new Promise<void>((resolve) => {
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    proxy.port = (proxy.#server.address() as { port: number }).port;
    return proxy;
  }

  #join(client: Socket, database: Socket): void {
    if (this.weather === 'closed') {
      client.destroy();
      database.destroy();
      return;
    }
    const frontend = new Frontend();
    const close = (): void => {
      client.destroy();
      database.destroy();
      this.#sockets.delete(client);
      this.#sockets.delete(database);
    };
    for (const socket of [client, database]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', close);
      socket.setNoDelay(true);
    }
    let unconfirmed = false;
    this.#pass(client, database, (chunk) => {
      const before = frontend.statements;
      frontend.read(chunk);
      const how = this.#endingNow(frontend.statements - before);
      unconfirmed ||= how === 'unconfirmed';
      if (how === undefined || unconfirmed) return true;
      if (how === 'reset') resetSocket(client);
      else if (how === 'dismissed') client.end(dismissal());
      if (how !== 'dismissed') close();
      else database.destroy();
      return false;
    });
    this.#pass(database, client, () => {
      if (unconfirmed) {
        close();
        return false;
      }
      const write = frontend.pending;
      frontend.pending = false;
      if (!write || this.cutting === 0) return true;
      this.cutting--;
      this.cut++;
      close();
      return false;
    });
  }

  #endingNow(statements: number): ConnectionEnd | undefined {
    if (this.ending === undefined) return undefined;
    this.#counted += statements;
    if (this.#counted < this.ending.at) return undefined;
    const { how } = this.ending;
    this.ending = undefined;
    return how;
  }

  /** Ends the connection at the `at`-th statement from now on. */
  endAt(at: number, how: ConnectionEnd): void {
    this.#counted = 0;
    this.ending = { at, how };
  }

  /** `look` sees each chunk before it passes and returns whether it does. */
  #pass(from: Socket, to: Socket, look: (chunk: Buffer) => boolean): void {
    let order = Promise.resolve();
    from.on('data', (chunk: Buffer) => {
      if (!look(chunk)) return;
      const before = order;
      order = (async () => {
        await before;
        await this.#carry(from, to, chunk);
      })();
    });
    from.on('end', () => void order.then(() => to.end()));
  }

  async #carry(from: Socket, to: Socket, chunk: Buffer): Promise<void> {
    if (this.weather === 'slow') await sleep(SLOW_MS);
    if (this.weather === 'slices') {
      for (let at = 0; at < chunk.length; at += 97) {
        to.write(chunk.subarray(at, at + 97));
        await sleep(0);
      }
      return;
    }
    // Swallowed data never arrives, so the connection is unusable afterwards.
    if (this.weather === 'hole') from.pause();
    else if (!to.destroyed) to.write(chunk);
  }

  /** Ends all connections, like a restarted firewall. */
  reset(): void {
    for (const socket of this.#sockets) resetSocket(socket);
  }

  async close(): Promise<void> {
    this.reset();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

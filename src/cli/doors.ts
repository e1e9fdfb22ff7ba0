/**
 * The port of a process that serves alone. An event loop accepts one connection of a listening socket each time that it goes
 * round, and under load it takes 20 ms to do so: whoever came new waited for seconds, while those who had a connection were
 * answered. So several sockets listen on the one port, and one connection of each is accepted (decision 0021).
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { BACKLOG, hostsOf, type Place, urlOf, whyNot } from './listening.ts';

/** Connections that are accepted in a turn of the event loop. */
const DOORS = 16;
/** What systems say that cannot let sockets share a port. */
const CANNOT_SHARE: ReadonlySet<string | undefined> = new Set(['ENOTSUP', 'EINVAL', 'ENOPROTOOPT']);

export class Doors {
  readonly #adopt: (socket: Socket) => void;
  readonly #complain: (error: Error) => void;
  readonly #servers: Server[] = [];

  /** `adopt` is given each connection, of which nothing was read; `complain` is told of those that could not be accepted. */
  constructor(adopt: (socket: Socket) => void, complain: (error: Error) => void) {
    this.#adopt = adopt;
    this.#complain = complain;
  }

  /**
   * @returns the address as a URL
   * @throws Error with a sentence that says what to do
   */
  async open({ host, port }: Place): Promise<string> {
    try {
      const [first = host, ...others] = await hostsOf(host);
      // A socket that shares its port would share it with another service, too: whether it is free is found out by one that does not.
      if (port !== 0) await closed(await this.#listen({ host: first, port }, false));
      const address = await this.#openAt({ host: first, port });
      for (const other of others) await this.#openAt({ host: other, port: address.port }).catch(() => undefined);
      return urlOf(address);
    } catch (error) {
      this.close();
      throw whyNot(error, { host, port });
    }
  }

  async #openAt(place: Place): Promise<AddressInfo> {
    let first: Server;
    try {
      first = await this.#listen(place, true);
    } catch (error) {
      if (!CANNOT_SHARE.has((error as { code?: string }).code)) throw error;
      first = await this.#listen(place, false);
      this.#servers.push(first);
      return first.address() as AddressInfo;
    }
    this.#servers.push(first);
    const address = first.address() as AddressInfo;
    for (let more = 1; more < DOORS; more++) {
      this.#servers.push(await this.#listen({ host: place.host, port: address.port }, true));
    }
    return address;
  }

  async #listen(place: Place, reusePort: boolean): Promise<Server> {
    // As servers of HTTP listen: an answer is still read by who sends no more.
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.on('connection', this.#adopt);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen({ ...place, backlog: BACKLOG, reusePort }, resolve);
    await promise;
    server.off('error', reject).on('error', this.#complain);
    return server;
  }

  /** Nobody comes in any more; who is in is not touched. */
  close(): void {
    for (const server of this.#servers.splice(0)) server.close();
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** Listening addresses, their error messages, and the listening sockets of a single serving process. */
import { lookup } from 'node:dns/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Length of the accept queue. When it is full, clients retry for seconds instead of getting a quick rejection. */
export const BACKLOG = 4096;

export interface ListenAddress {
  /** An address or a name of this machine. */
  host: string;
  /** 0 selects any free port. */
  port: number;
}

/** @returns listening errors as a message that says what to do; other errors unchanged */
export function whyNot(error: unknown, { host, port }: ListenAddress): unknown {
  const { code } = error as { code?: string };
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    return new Error(`${where} is in use by another program; stop it, or set DOCKET_PORT to a free port.`);
  }
  if (code === 'EACCES')
    return new Error(`${where} needs more privileges than this user has; set DOCKET_PORT above 1023.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new Error(`${host} is not an address of this machine; set DOCKET_HOST.`);
  return error;
}

/** The addresses of a name. `localhost` gives both IPv4 and IPv6, because a client may try either. */
export async function hostsOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  return [...new Set((await lookup(host, { all: true })).map(({ address }) => address))];
}

/** The URL at which a client on this machine reaches the server. */
export function urlOf({ address, family, port }: AddressInfo): string {
  if (family === 'IPv6') return `http://[${address}]:${port}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`;
}

/** Number of listening sockets, which is the number of connections accepted per iteration of the event loop. */
const LISTENERS = 16;
/** Error codes of systems without `SO_REUSEPORT`. */
const CANNOT_SHARE: ReadonlySet<string | undefined> = new Set(['ENOTSUP', 'EINVAL', 'ENOPROTOOPT']);

/**
 * Listening sockets of a single serving process. An event loop accepts one connection per listening socket and iteration, and
 * under load an iteration takes 20 ms. With one socket, new clients waited for seconds while connected clients were served. So
 * several sockets listen on the same port, and each iteration accepts one connection from each (ADR 0016).
 */
export class Listeners {
  readonly #adopt: (socket: Socket) => void;
  readonly #complain: (error: Error) => void;
  readonly #servers: Server[] = [];

  /** `adopt` receives each connection, of which nothing was read. `complain` receives errors of accepting connections. */
  constructor(adopt: (socket: Socket) => void, complain: (error: Error) => void) {
    this.#adopt = adopt;
    this.#complain = complain;
  }

  /**
   * @returns the address as a URL
   * @throws Error with a message that says what to do
   */
  async open({ host, port }: ListenAddress): Promise<string> {
    try {
      const [first = host, ...others] = await hostsOf(host);
      // A socket with `SO_REUSEPORT` could share the port with another service. So a socket without it first checks that the
      // port is free.
      if (port !== 0) await closed(await this.#listen({ host: first, port }, false));
      const address = await this.#openAt({ host: first, port });
      for (const other of others) await this.#openAt({ host: other, port: address.port }).catch(() => undefined);
      return urlOf(address);
    } catch (error) {
      this.close();
      throw whyNot(error, { host, port });
    }
  }

  async #openAt(place: ListenAddress): Promise<AddressInfo> {
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
    for (let more = 1; more < LISTENERS; more++) {
      this.#servers.push(await this.#listen({ host: place.host, port: address.port }, true));
    }
    return address;
  }

  async #listen(place: ListenAddress, reusePort: boolean): Promise<Server> {
    // Same options as HTTP servers use: a client may end its sending side and still read the answer.
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.on('connection', this.#adopt);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen({ ...place, backlog: BACKLOG, reusePort }, resolve);
    await promise;
    server.off('error', reject).on('error', this.#complain);
    return server;
  }

  /** Stops listening. Open connections are not affected. */
  close(): void {
    for (const server of this.#servers.splice(0)) server.close();
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

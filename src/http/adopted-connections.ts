/**
 * Serves connections that another process accepted (`serve --processes N`). Node counts connections and closes slow clients
 * only on a server that listens. So this server listens on a socket that no client can reach.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';

/** Prepares the server to adopt connections. */
export async function listenNowhere(server: FastifyInstance): Promise<void> {
  // Other users cannot enter the folder, and the socket has no name after the removal.
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-'));
  try {
    await server.listen({ path: path.join(folder, 'nowhere') });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The open connections that were passed to this server. */
export class AdoptedConnections {
  readonly #http: Server;
  #open = 0;

  constructor(http: Server) {
    this.#http = http;
  }

  get open(): number {
    return this.#open;
  }

  /** Serves the connection, or closes it if the server has its maximum of connections. No bytes may have been read from it. */
  adopt(socket: Socket): void {
    if (this.#open >= this.#http.maxConnections) {
      socket.destroy();
      return;
    }
    this.#open += 1;
    socket.once('close', () => {
      this.#open -= 1;
    });
    // As for accepted connections: a client may end its sending side and still read the answer.
    socket.allowHalfOpen = true;
    this.#http.emit('connection', socket);
  }
}

/**
 * Connections that another process accepted (`serve --processes N`): the server treats them as its own. Node counts, limits
 * and closes slow clients only of a server that listens; so this one listens where nobody can reach it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';

/** Makes the server ready to take connections. */
export async function listenNowhere(server: FastifyInstance): Promise<void> {
  // Nobody else may enter the folder, and nobody finds the socket once its name is gone.
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-'));
  try {
    await server.listen({ path: path.join(folder, 'nowhere') });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What was handed to a server and is open. */
export class Handed {
  readonly #http: Server;
  #open = 0;

  constructor(http: Server) {
    this.#http = http;
  }

  get open(): number {
    return this.#open;
  }

  /** Serves the connection, or closes it where there are as many as the server may have. Nothing of it may have been read. */
  adopt(socket: Socket): void {
    if (this.#open >= this.#http.maxConnections) {
      socket.destroy();
      return;
    }
    this.#open += 1;
    socket.once('close', () => {
      this.#open -= 1;
    });
    // As if the server had accepted it: a client may say that it sends no more and still read the answer.
    socket.allowHalfOpen = true;
    this.#http.emit('connection', socket);
  }
}

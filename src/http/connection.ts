/**
 * Connection handling below requests: malformed requests, slow clients, `Expect: 100-continue`, connection limits, and
 * connections that another process accepted.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { failure } from '../contract/envelope.ts';
import type { FaultCode } from '../lib/fault-codes.ts';
import { newId } from '../platform/clock.ts';
import { answerOf, fault } from './errors.ts';
import { sourceOf } from './unverified.ts';
import { BASE_HEADERS, type Shared } from './request-context.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';

const REASONS = new Map([
  [400, 'Bad Request'],
  [431, 'Request Header Fields Too Large'],
]);

/** Answers malformed requests with the error envelope and closes the connection. */
export function onClientError(shared: Shared): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    const response = shared.current.get(socket);
    if (response !== undefined && !response.writableFinished) {
      // The error follows a request that is still being answered, or belongs to one that was already rejected.
      if (response.req.complete && !response.writableEnded) response.once('close', () => socket.destroy());
      else if (response.headersSent) socket.destroy();
      else refuse(shared, error, socket);
      return;
    }
    refuse(shared, error, socket);
  };
}

function refuse(shared: Shared, error: Error & { code?: string }, socket: Socket): void {
  const correlationId = newId();
  const { code, message } = reasonOf(error);
  const { status } = answerOf(fault(code));
  const body = failure(code, { message }, [], correlationId);
  const head = [
    `HTTP/1.1 ${status} ${REASONS.get(status) ?? 'Error'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Correlation-Id: ${correlationId}`,
    ...BASE_HEADERS.map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  shared.metrics.observe('none', status, 0);
  shared.log.info({ correlationId, operation: 'none', status, reason: error.code, ip: socket.remoteAddress });
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // Incoming data must not reset the connection before the client has read the answer. The data is discarded: the HTTP parser
  // would fail on it again, and detaches from the socket only if another listener reads it.
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.resume();
  setTimeout(() => socket.destroy(), 1000).unref();
}

function reasonOf(error: Error & { code?: string }): { code: FaultCode; message: string } {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return {
      code: 'HEADERS_TOO_LARGE',
      message: 'The request line and headers are too long. Shorten the query or send fewer headers.',
    };
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { code: 'INVALID_REQUEST', message: 'The request did not arrive in time. Send it without pauses.' };
  }
  return {
    code: 'INVALID_REQUEST',
    message: 'The request is not valid HTTP/1.1. Check the request line and the headers.',
  };
}

/** Delays `100 Continue` until the request is admitted and its body is wanted. */
export function deferContinue(server: Server, shared: Shared): void {
  const later = (request: IncomingMessage, response: ServerResponse): void => {
    shared.expecting.add(request);
    server.emit('request', request, response);
  };
  server.on('checkContinue', later);
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/**
 * Closes connections that were idle for `stalledMs`. If their request is being processed, they may wait for `idleMs`. A
 * connection with an unread answer is closed, because the answer holds memory and possibly its source.
 */
export function closeIdle(server: Server, shared: Shared, stalledMs: number, idleMs: number): void {
  const waited = new WeakMap<ServerResponse, number>();
  server.on('timeout', (socket: Socket) => {
    const response = shared.current.get(socket);
    const working = response !== undefined && !response.writableFinished && !response.destroyed;
    if (!working || socket.writableLength > 0) {
      socket.destroy();
      return;
    }
    const ms = (waited.get(response) ?? 0) + stalledMs;
    waited.set(response, ms);
    if (ms >= idleMs) socket.destroy();
    else socket.setTimeout(stalledMs);
  });
}

/**
 * Limits the connections that never carried a request of a verified caller, so that unauthenticated clients cannot use up all
 * connections. Above the limit, the oldest connection of the address with the most of them is closed. So a new client always
 * gets a connection and time to send its key.
 */
export class UnverifiedConnections {
  readonly #most: number;
  /** Per client address, oldest first. */
  readonly #bySource = new Map<string, Set<Socket>>();
  readonly #sources = new WeakMap<Socket, string>();
  #count = 0;

  constructor(server: Server, most: number) {
    this.#most = most;
    server.on('connection', (socket: Socket) => this.#add(socket));
  }

  #add(socket: Socket): void {
    const source = sourceOf(socket.remoteAddress ?? '');
    const sockets = this.#bySource.get(source) ?? new Set();
    this.#bySource.set(source, sockets);
    sockets.add(socket);
    this.#sources.set(socket, source);
    this.#count++;
    socket.once('close', () => this.verified(socket));
    while (this.#count > this.#most) this.#closeOldest();
  }

  /** Removes the connection from the limit: it carried a request with a valid key or session, or it is closed. */
  verified(socket: Socket): void {
    const source = this.#sources.get(socket);
    const sockets = source === undefined ? undefined : this.#bySource.get(source);
    if (source === undefined || sockets === undefined) return;
    this.#sources.delete(socket);
    sockets.delete(socket);
    this.#count--;
    if (sockets.size === 0) this.#bySource.delete(source);
  }

  #closeOldest(): void {
    let most: Set<Socket> | undefined;
    for (const sockets of this.#bySource.values()) if (sockets.size > (most?.size ?? 0)) most = sockets;
    const [oldest] = most ?? [];
    if (oldest === undefined) return;
    this.verified(oldest);
    oldest.destroy();
  }
}

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

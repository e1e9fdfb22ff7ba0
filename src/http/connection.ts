/** What happens below requests: malformed ones, slow ones, clients that ask before they send, and too many connections. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { failure } from '../contract/envelope.ts';
import type { FaultCode } from '../lib/fault-codes.ts';
import { newId } from '../mechanisms/clock.ts';
import { answerOf, fault } from './errors.ts';
import { sourceOf } from './open.ts';
import { BASE_HEADERS, type Shared } from './exchange.ts';

const REASONS = new Map([
  [400, 'Bad Request'],
  [431, 'Request Header Fields Too Large'],
]);

/** Answers what never became a request in our error shape, and closes the connection. */
export function onClientError(shared: Shared): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    const response = shared.current.get(socket);
    if (response !== undefined && !response.writableFinished) {
      // What is broken follows a request that is still being answered, or belongs to one that was refused already.
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
  const body = failure(code, message, [], correlationId);
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
  // Data that is still coming must not reset the connection before the answer is read. It goes nowhere: the parser would
  // break on it again, and lets go of the socket only when somebody else listens.
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.resume();
  setTimeout(() => socket.destroy(), 1000).unref();
}

function reasonOf(error: Error & { code?: string }): { code: FaultCode; message: string } {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return { code: 'HEADERS_TOO_LARGE', message: 'Send a shorter request line and fewer or shorter headers.' };
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { code: 'INVALID_REQUEST', message: 'The request did not arrive in time; send it without pauses.' };
  }
  return { code: 'INVALID_REQUEST', message: 'The request is not valid HTTP/1.1.' };
}

/** A client that sends `Expect: 100-continue` is told to go on when its body is wanted, and not before it was let in. */
export function deferContinue(server: Server, shared: Shared): void {
  const later = (request: IncomingMessage, response: ServerResponse): void => {
    shared.expecting.add(request);
    server.emit('request', request, response);
  };
  server.on('checkContinue', later);
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/**
 * Closes connections through which nothing has passed for `stalledMs`, unless their request is being worked on: then they may wait
 * for `idleMs`. An answer that is not read lies in memory, and may hold what it is read from.
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
 * Bounds the connections that never carried a request of a verified caller, so that strangers cannot use up all that the
 * server may have. Where there are too many, the oldest of the address that has most of them is closed: a new client always
 * gets in, and has the time to show its key.
 */
export class UnverifiedConnections {
  readonly #most: number;
  /** Oldest first, by the address that they came from. */
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

  /** The connection carried a request whose key or session is valid, or is closed. */
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

/** A webhook receiver: https with its own certificate and configurable responses. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Certificate, makeCertificate } from './certificate.ts';

export interface Received {
  /** Milliseconds of the wall clock when the request was whole. */
  at: number;
  path: string;
  headers: IncomingHttpHeaders;
  raw: Buffer;
  /** The body as JSON. */
  body: any;
}

export type Answer =
  | { status: number; headers?: Record<string, string>; body?: string | Buffer; delayMs?: number }
  /** Accepts the request and never responds. */
  | 'hang'
  /** Accepts the request and closes the connection. */
  | 'reset'
  /** Writes to the response itself. */
  | { byHand(response: ServerResponse): void };

export interface Receiver {
  url: string;
  port: number;
  /** PEM of its own root of trust. */
  ca: string;
  certificate: Certificate;
  received: Received[];
  /** How requests are answered from now on. */
  answer: Answer | ((request: Received) => Answer);
  /** Connections that were ever opened. */
  readonly connections: number;
  /** Waits for the given number of requests. @throws Error with the received ones */
  wait(count: number, limitMs?: number): Promise<Received[]>;
  close(): Promise<void>;
}

export interface ReceiverOptions {
  certificate?: Certificate;
  host?: string;
  /** Stores received requests; benchmarks only count them. */
  keep?: boolean;
  port?: number;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export const OWN_HOSTS = ['localhost', '127.0.0.1', 'hooks.example.org', 'other.example.org'] as const;

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const certificate = options.certificate ?? makeCertificate(OWN_HOSTS);
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, (request, response) => {
    request.on('error', () => {});
    response.on('error', () => {});
    void handle(request, response).catch(() => request.destroy());
  });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await bodyOf(request);
    const { headers, url = '' } = request;
    const received: Received = { at: Date.now(), path: url, headers, raw, body: JSON.parse(raw.toString('utf8')) };
    if (options.keep !== false) self.received.push(received);
    const answer = typeof self.answer === 'function' ? self.answer(received) : self.answer;
    if (answer === 'hang') return;
    if (answer === 'reset') {
      request.socket.destroy();
      return;
    }
    if ('byHand' in answer) {
      answer.byHand(response);
      return;
    }
    if (answer.delayMs !== undefined) await sleep(answer.delayMs);
    response.writeHead(answer.status, answer.headers ?? {}).end(answer.body ?? '');
  };
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => {
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
  });
  // A test that failed before it could close the receiver must still end.
  server.unref();
  const { port } = server.address() as AddressInfo;
  const self: Receiver = {
    url: `https://127.0.0.1:${port}/hook`,
    port,
    ca: certificate.cert,
    certificate,
    received: [],
    answer: { status: 200 },
    get connections() {
      return connections;
    },
    wait: async (count, limitMs = 60_000) => {
      const until = performance.now() + limitMs;
      while (self.received.length < count) {
        if (performance.now() > until) throw new Error(`${self.received.length} of ${count} requests came`);
        await sleep(5);
      }
      return self.received;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return self;
}

/**
 * Checks the signature `X-ITSM-Signature` independently of the service (docs/spec/webhooks-and-inbound.md): the hex HMAC-SHA256
 * over timestamp, dot, delivery id, dot and the raw bytes.
 */
export function isSigned(secret: string, { headers, raw }: Pick<Received, 'headers' | 'raw'>): boolean {
  const [timestamp, id, given] = ['x-itsm-timestamp', 'x-itsm-delivery', 'x-itsm-signature'].map((key) =>
    String(headers[key]),
  );
  const signed = Buffer.concat([Buffer.from(`${timestamp}.${id}.`), raw]);
  const right = Buffer.from(`sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`);
  const said = Buffer.from(given ?? '');
  return right.length === said.length && timingSafeEqual(right, said);
}

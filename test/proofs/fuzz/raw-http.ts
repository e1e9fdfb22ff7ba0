/** Sends requests byte for byte as they are meant, other than `fetch` would. */
import { Agent, request as send } from 'node:http';

export interface RawRequest {
  /** True if it was generated as a valid call, and how it was generated; for the report. */
  way: string;
  operation: string;
  who: string;
  method: string;
  /** With prefix and query, percent-encoded. */
  path: string;
  /** Header names may occur twice. */
  headers: [string, string][];
  body?: Buffer;
  params: Readonly<Record<string, string>>;
  /** Ids that the request would give to something new. */
  claims?: { table: 'objects' | 'users' | 'groups' | 'org_units'; id: string };
}

export interface RawResponse {
  status: number;
  headers: Headers;
  body: any;
  text: string;
  ms: number;
}

const PATIENCE_MS = 60_000;

export class RawHttp {
  readonly #url: string;
  readonly #agent: Agent;

  constructor(url: string, connections: number) {
    this.#url = url;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** @throws Error when there is no answer */
  fire(shot: RawRequest): Promise<RawResponse> {
    const began = performance.now();
    return new Promise((resolve, reject) => {
      const headers: Record<string, string[]> = {};
      for (const [name, value] of shot.headers) (headers[name] ??= []).push(value);
      if (shot.body !== undefined) headers['content-length'] ??= [String(shot.body.length)];
      const { hostname, port } = new URL(this.#url);
      const options = {
        hostname,
        port,
        method: shot.method,
        path: shot.path,
        agent: this.#agent,
        timeout: PATIENCE_MS,
      };
      const flat = Object.fromEntries(
        Object.entries(headers).map(([name, all]) => [name, all.length === 1 ? all[0] : all]),
      );
      const request = send({ ...options, headers: flat as Record<string, string | string[]> }, (response) => {
        const chunks: Buffer[] = [];
        const finish = (): void => {
          const text = Buffer.concat(chunks).toString();
          const seen = new Headers();
          for (let at = 0; at < response.rawHeaders.length; at += 2) {
            seen.append(response.rawHeaders[at] as string, response.rawHeaders[at + 1] as string);
          }
          const isJson = (seen.get('content-type') ?? '').includes('json');
          let body: unknown = text;
          if (isJson && text !== '') {
            try {
              body = JSON.parse(text);
            } catch {
              body = undefined;
            }
          }
          resolve({ status: response.statusCode ?? 0, headers: seen, body, text, ms: performance.now() - began });
        };
        response.on('error', reject);
        response.on('end', finish);
        // A stream of events does not end by itself: its beginning is the response.
        const endless = (response.headers['content-type'] ?? '').startsWith('text/event-stream');
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          if (!endless) return;
          finish();
          response.destroy();
        });
      });
      request.on('timeout', () => request.destroy(new Error('no answer for a minute')));
      request.on('error', reject);
      request.end(shot.body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

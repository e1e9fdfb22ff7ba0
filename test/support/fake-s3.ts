/**
 * An S3 server that grants just what the documentation asks for, and can be sent away. It does not verify signatures: the S3
 * server of `s3.ts` does, but it knows no permissions.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type Mood = 'fair' | 'away' | 'denied' | 'broken';

export class FakeS3 {
  readonly #server: Server;
  readonly objects = new Map<string, Buffer>();
  /** Operations that were asked for, such as `HEAD /docket`. */
  readonly asked: string[] = [];
  /** `away`: connections are closed; `denied`: 403 to all; `broken`: 500 to all. */
  mood: Mood = 'fair';

  constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request, response).catch(() => request.destroy());
    });
  }

  static async start(): Promise<FakeS3> {
    const fake = new FakeS3();
    await new Promise<void>((resolve) => {
      fake.#server.listen(0, '127.0.0.1', resolve);
    });
    return fake;
  }

  /** The address in the format of the setting `DOCKET_BLOBS`. */
  get setting(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `s3://docket/files?endpoint=${encodeURIComponent(`http://127.0.0.1:${port}`)}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://s3');
    const key = pathname.replace(/^\/docket\/?/, '');
    this.asked.push(`${request.method} ${pathname}`);
    if (this.mood === 'away') {
      request.destroy();
      return;
    }
    const body = await buffer(request);
    if (this.mood === 'broken') return refuse(response, 500, 'InternalError');
    // The bucket itself may not be asked for, and nothing outside of the folder.
    const inside = key.startsWith('files/');
    const listing = key === '' && request.method === 'GET' && searchParams.get('prefix') === 'files/';
    if (this.mood === 'denied' || !(inside || listing)) return refuse(response, 403, 'AccessDenied');
    if (listing) return this.#list(response);
    if (request.method === 'PUT') {
      this.objects.set(key, body);
      response.writeHead(200, { ETag: '"x"' }).end();
    } else if (request.method === 'DELETE') {
      this.objects.delete(key);
      response.writeHead(204).end();
    } else {
      const found = this.objects.get(key);
      if (found === undefined) return refuse(response, 404, 'NoSuchKey');
      response.writeHead(200, { 'Content-Length': found.length }).end(found);
    }
  }

  #list(response: ServerResponse): void {
    const rows = [...this.objects].map(
      ([key, bytes]) =>
        `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>${bytes.length}</Size></Contents>`,
    );
    response
      .writeHead(200, { 'Content-Type': 'application/xml' })
      .end(`<ListBucketResult><IsTruncated>false</IsTruncated>${rows.join('')}</ListBucketResult>`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status, { 'Content-Type': 'application/xml' })
    .end(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

/** Streams of unread notifications that are open during a benchmark. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type pg from 'pg';

/** Also the number of streams from one address: first uses of sessions are limited for each address. */
const OPENED_AT_ONCE = 50;

/** Open streams of different users. */
export class Streams {
  readonly #open: ClientRequest[] = [];
  /** Events received by all streams. */
  received = 0;

  /** Opens that many streams, each with the session of another user. */
  async open(db: pg.Client, port: number, count: number): Promise<void> {
    const tokens = Array.from({ length: count }, () => randomBytes(32).toString('base64url'));
    await db.query(
      `INSERT INTO sessions (token_hash, user_id, csrf_hash, created_at, expires_at)
       SELECT sha256(token::bytea), u.id, sha256('csrf'), now(), now() + interval '1 hour'
       FROM unnest($1::text[]) WITH ORDINALITY AS t (token, n)
         JOIN (SELECT id, row_number() OVER (ORDER BY md5(login)) AS n FROM users WHERE login LIKE 'user%') u USING (n)`,
      [tokens],
    );
    for (let from = 0; from < tokens.length; from += OPENED_AT_ONCE) {
      await Promise.all(
        tokens
          .slice(from, from + OPENED_AT_ONCE)
          .map((token) => this.#openOne(port, token, `127.0.1.${1 + from / OPENED_AT_ONCE}`)),
      );
    }
  }

  async #openOne(port: number, token: string, localAddress: string): Promise<void> {
    const headers = { accept: 'text/event-stream', cookie: `docket_session=${token}` };
    const sent = request({
      port,
      host: '127.0.0.1',
      path: '/api/admin/v1/notifications/stream',
      headers,
      localAddress,
      agent: false,
    });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`a stream was refused: ${await text(response)}`);
    // Closed streams are expected at the end.
    sent.on('error', () => {});
    response.on('error', () => {});
    response.on('data', (chunk: Buffer) => {
      this.received += chunk.toString().split('event: unread').length - 1;
    });
    this.#open.push(sent);
  }

  close(): void {
    for (const sent of this.#open) sent.destroy();
  }
}

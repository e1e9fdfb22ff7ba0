/** A connection that listens to the notifications of a channel and is opened again when it is lost. */
import type { Database, DatabaseClient } from './pool.ts';

const RECONNECT_MS = 1000;

export interface ChannelListener {
  /** Called with the payload of each notification. */
  notified(payload: string | undefined): void;
  /** Called when the connection listens, also again: notifications may have been missed before. */
  connected?(): void;
}

/** Notifications do not pass through a pooler: there, no connection is opened, and its user must not rely on it. */
export class ListeningConnection {
  readonly #db: Pick<Database, 'session'>;
  readonly #channel: string;
  readonly #listener: ChannelListener;
  #client: DatabaseClient | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isWanted = false;
  #isConnecting = false;

  /** @param channel an SQL identifier */
  constructor(db: Pick<Database, 'session'>, channel: string, listener: ChannelListener) {
    this.#db = db;
    this.#channel = channel;
    this.#listener = listener;
  }

  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  start(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    if (!this.#isConnecting) void this.#connect();
  }

  /** Can be started again. */
  stop(): void {
    this.#isWanted = false;
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = undefined;
    // A listening connection must not return to the pool.
    client?.release(true);
  }

  async #connect(): Promise<void> {
    this.#isConnecting = true;
    try {
      const client = await this.#db.session();
      if (client === undefined) return;
      if (!this.#isWanted) {
        client.release();
        return;
      }
      this.#client = client;
      client.on('notification', ({ payload }) => this.#listener.notified(payload));
      client.on('end', () => this.#lost(client));
      await client.query(`LISTEN ${this.#channel}`);
      if (this.#client === client) this.#listener.connected?.();
    } catch {
      if (this.#client === undefined) this.#reconnect();
      else this.#lost(this.#client);
    } finally {
      this.#isConnecting = false;
    }
  }

  #lost(client: DatabaseClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.release(true);
    this.#reconnect();
  }

  #reconnect(): void {
    if (!this.#isWanted) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#connect(), RECONNECT_MS);
    this.#retry.unref();
  }
}

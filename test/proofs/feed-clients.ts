/** Writers and readers of the changes feed for its fault test. They record what they were answered in one history. */
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, type LoadAnswer } from './fault-client.ts';
import type { FeedHistoryEntry, SeenEvent } from './feed-history.ts';
import { readEvents } from '../support/event-stream.ts';

const PAUSE_MS = 200;
const WAIT_S = 5;
const TRY_MS = 15_000;
/** A stream without an event for so many waits has come to the end. */
const QUIET_WAITS = 2;

/** The titles of writes whose transactions are held open. */
export const HELD = 'held open';

/** Holds the transaction of such a write open for one to four seconds after its row of the journal got its number. */
export const HOLD_SQL = `
  CREATE FUNCTION public.hold_open() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(1 + 3 * random()); RETURN NULL; END $$;
  CREATE TRIGGER held_open AFTER INSERT ON journal FOR EACH ROW WHEN (NEW.changes::text LIKE '%${HELD}%')
    EXECUTE FUNCTION public.hold_open()`;

export interface FeedClients {
  urls(): readonly string[];
  key: string;
  history: FeedHistoryEntry[];
  random(): number;
  isRunning(): boolean;
}

type Data = Record<string, unknown>;

/** Creates records, changes them and comments on them. A write without a certain answer ends the work on its record. */
export async function runFeedWriter(clients: FeedClients, name: string, isHeld: boolean): Promise<void> {
  const { history, key, random } = clients;
  const send = async (method: string, path: string, body: unknown): Promise<Data | undefined> => {
    const urls = clients.urls();
    const url = urls[Math.floor(random() * urls.length)] as string;
    const answer: LoadAnswer | undefined = await attempt(url, key, method, path, body, {}, TRY_MS);
    if (answer?.status === 200 || answer?.status === 201) return answer.body.data;
    await sleep(PAUSE_MS);
    return undefined;
  };
  for (let count = 0; clients.isRunning(); count++) {
    const title = `${isHeld ? HELD : 'record'} ${name}-${count}`;
    const made = await send('POST', '/api/v1/objects', { typeDefinitionId: 'thing', values: { title } });
    if (made === undefined) continue;
    const objectId = made['id'] as string;
    history.push({ kind: 'acknowledged', eventType: 'ObjectCreated', objectId, revision: 1 });
    const changes = 1 + Math.floor(random() * 8);
    for (let revision = 1; revision <= changes && clients.isRunning(); revision++) {
      const body = { expectedRevision: revision, changes: { title: `${title} ${revision}` } };
      if ((await send('PATCH', `/api/v1/objects/${objectId}`, body)) === undefined) break;
      history.push({ kind: 'acknowledged', eventType: 'ObjectUpdated', objectId, revision: revision + 1 });
    }
    const said = await send('POST', `/api/v1/objects/${objectId}/comments`, { body: title, visibility: 'public' });
    if (said !== undefined) history.push({ kind: 'acknowledged', eventType: 'CommentAdded', objectId });
    await sleep(20 + random() * 80);
  }
}

/** A reader that keeps only its cursor. */
abstract class FeedReader {
  protected readonly clients: FeedClients;
  readonly name: string;
  /** Undefined at the beginning, and after a rewind that drops everything. */
  protected cursor: string | undefined;
  rewinds = 0;

  constructor(clients: FeedClients, name: string) {
    this.clients = clients;
    this.name = name;
  }

  protected get url(): string {
    const urls = this.clients.urls();
    return `${urls[Math.floor(this.clients.random() * urls.length)]}/api/v1/changes`;
  }

  protected saw(events: readonly SeenEvent[]): void {
    this.clients.history.push({
      kind: 'read',
      reader: this.name,
      events: events.map(({ eventId, eventType, objectId, revision }) => ({ eventId, eventType, objectId, revision })),
    });
  }

  /** @throws Error for any other refusal that no fault explains */
  protected refused(status: number, error: { code: string; details?: any } | undefined): void {
    if (error?.code === 'CURSOR_REWOUND') {
      const { resume, lastEventId } = error.details;
      this.clients.history.push({ kind: 'rewound', reader: this.name, lastEventId });
      this.rewinds++;
      this.cursor = lastEventId === null ? undefined : resume;
    } else if (status < 500 && status !== 429) throw new Error(`${this.name} got ${status} ${JSON.stringify(error)}`);
  }

  /** Reads until `isDone`, which is asked when nothing more is there. */
  abstract run(isDone: () => boolean): Promise<void>;
}

/** Reads pages of random sizes by waiting requests, from a random process each time. */
export class PageReader extends FeedReader {
  async run(isDone: () => boolean): Promise<void> {
    for (;;) {
      const limit = 1 + Math.floor(this.clients.random() ** 3 * 999);
      const query = new URLSearchParams({ limit: String(limit), wait: String(WAIT_S) });
      if (this.cursor !== undefined) query.set('after', this.cursor);
      const response = await fetch(`${this.url}?${query}`, {
        headers: { authorization: `Bearer ${this.clients.key}` },
        signal: AbortSignal.timeout(TRY_MS + WAIT_S * 1000),
      }).catch(() => undefined);
      const body: any = await response?.json().catch(() => undefined);
      if (response === undefined || body === undefined) await sleep(PAUSE_MS);
      else if (response.status === 200) {
        this.saw(body.data.events);
        this.cursor = body.data.next;
        if (body.data.caughtUp && body.data.events.length === 0 && isDone()) return;
      } else {
        this.refused(response.status, body.error);
        await sleep(PAUSE_MS);
      }
    }
  }
}

/** Follows a stream of events, and opens it again after its last id. */
export class StreamReader extends FeedReader {
  async run(isDone: () => boolean): Promise<void> {
    for (;;) {
      const response = await fetch(this.url, {
        headers: {
          authorization: `Bearer ${this.clients.key}`,
          accept: 'text/event-stream',
          ...(this.cursor === undefined ? {} : { 'last-event-id': this.cursor }),
        },
      }).catch(() => undefined);
      if (response?.status === 200) {
        const stream = readEvents(response);
        let hasEnded = false;
        void (async () => {
          await stream.ended;
          hasEnded = true;
        })();
        for (let quiet = 0; quiet < QUIET_WAITS || !isDone(); ) {
          const wasEnded = hasEnded;
          const event = await stream.next(WAIT_S * 1000);
          quiet = event === undefined ? quiet + 1 : 0;
          if (event !== undefined) this.saw([JSON.parse(event.data) as SeenEvent]);
          // The id of a block without an event counts only when all events before it were taken.
          if (event !== undefined) this.cursor = event.id;
          else if (wasEnded) {
            this.cursor = stream.lastId() ?? this.cursor;
            break;
          }
        }
        stream.close();
        if (isDone() && !hasEnded) return;
      } else if (response !== undefined) {
        const body: any = await response.json().catch(() => undefined);
        this.refused(response.status, body?.error);
      }
      await sleep(PAUSE_MS);
    }
  }
}

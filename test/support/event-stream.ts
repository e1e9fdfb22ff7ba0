/** Reads server-sent events of a response. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface TestEvent {
  id?: string;
  event: string;
  data: string;
}

export interface TestEvents {
  /** The next event; undefined if none comes within that time, or if the stream ends. */
  next(ms: number): Promise<TestEvent | undefined>;
  /** Resolves when the service has ended the stream. */
  ended: Promise<void>;
  close(): void;
  /** The last event id, also of a block without an event. */
  lastId(): string | undefined;
}

export function readEvents(response: Response): TestEvents {
  const events: TestEvent[] = [];
  let lastId: string | undefined;
  let arrived = Promise.withResolvers<void>();
  const reader = response.body?.getReader();
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let text = '';
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      text += decoder.decode(part.value, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const of = (name: string): string[] =>
          block.split('\n').flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []));
        const [event] = of('event');
        const [id] = of('id');
        lastId = id ?? lastId;
        if (event === undefined) continue;
        events.push({ ...(id === undefined ? {} : { id }), event, data: of('data').join('\n') });
        arrived.resolve();
      }
    }
  };
  const ended = read().catch(() => {});
  return {
    ended,
    next: async (ms) => {
      if (events.length === 0) await Promise.race([arrived.promise, ended, sleep(ms)]);
      arrived = Promise.withResolvers();
      return events.shift();
    },
    lastId: () => lastId,
    close: () => void reader?.cancel().catch(() => {}),
  };
}

/** The body of a response; of an endless stream of events only the first event. */
export async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return await response.text();
  const events = readEvents(response);
  const first = await events.next(20_000);
  events.close();
  return `event: ${first?.event}\ndata: ${first?.data}\n\n`;
}

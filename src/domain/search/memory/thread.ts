/** The thread that holds the index: it loads and follows the records, merges segments, and answers questions in between. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { Database } from '../../../platform/database/pool.ts';
import { databaseSource, SYSTEM_COLUMN_NAMES } from './store.ts';
import { SegmentFiles } from './files.ts';
import { MemoryFollower } from './follower.ts';
import type { FromThread, IndexState, ToThread } from './messages.ts';
import { MemoryServer } from './server.ts';

/** Everything that the thread gets when it starts. Plain data. */
export interface ThreadOptions {
  /** The primary: snapshots of a replica do not list running transactions. */
  url: string;
  /** Whether the URL is that of a connection pooler. */
  pooled: boolean;
  /** Memory of the index. */
  bytes: number;
  /** Where segments are kept; null: nowhere. One process at a time uses a folder. */
  folder: string | null;
  /** Stored codes of the fields whose values are kept. Further ones are added when a question needs them. */
  codes: readonly string[];
}

/** Changes are read this often without questions too, so that a question has few to wait for. */
const FOLLOW_MS = 250;
const RETRY_MS = 1000;
/** Segments are written at most this often: most of them are soon merged. */
const SAVE_MS = 5000;

/** Runs until a message asks it to stop. */
export async function runMemoryThread(port: MessagePort, options: ThreadOptions): Promise<void> {
  const { url, pooled, bytes, folder, codes } = options;
  const files = folder === null ? undefined : new SegmentFiles(folder);
  const db = new Database({ url, pooled, max: 2 });
  const follower = new MemoryFollower(databaseSource(db), { bytes, files }, [...SYSTEM_COLUMN_NAMES, ...codes]);
  const server = new MemoryServer(follower);
  let isStopped = false;
  const say = (message: FromThread): void => port.postMessage(message, []);
  const problem = (error: unknown): void =>
    say({ kind: 'problem', message: error instanceof Error ? error.message : String(error) });
  port.on('message', (message: ToThread) => {
    if (message.kind === 'stop') {
      isStopped = true;
      return;
    }
    const { number, ask, until } = message;
    // The statement has answered this question already. Skipping it lets others be answered in time.
    if (performance.timeOrigin + performance.now() > until) return;
    server.answer(ask).then(
      (answer) => say({ kind: 'reply', number, answer }),
      (error: unknown) => {
        problem(error);
        say({ kind: 'reply', number, answer: { kind: 'statement' } });
      },
    );
  });
  let said = '';
  const report = (): void => {
    const now: IndexState = {
      state: follower.state,
      documents: follower.index.documents,
      bytes: follower.index.bytes,
    };
    const text = JSON.stringify(now);
    if (text !== said) say({ kind: 'state', ...now });
    said = text;
  };
  for (let followed = 0, saved = 0; !isStopped; ) {
    try {
      const isBusy = await step(follower, followed);
      report();
      if (isBusy) await turn();
      else {
        followed = performance.now();
        if (followed - saved > SAVE_MS) {
          saved = followed;
          await follower.save();
        }
        await sleep(Math.min(FOLLOW_MS, follower.pauseMs || FOLLOW_MS));
      }
    } catch (error) {
      problem(error);
      await sleep(RETRY_MS);
    }
  }
  await db.close();
  port.close();
}

/** One piece of work that is short enough to let questions wait. @returns whether there is more to do now */
async function step(follower: MemoryFollower, followed: number): Promise<boolean> {
  if (follower.state === 'loading') {
    if (follower.pauseMs > 0) return false;
    const more = await follower.loadStep();
    // Merged at once: nobody waits, and a loaded index has few segments from the beginning.
    while (follower.index.mergeStep());
    return more;
  }
  if (performance.now() - followed > FOLLOW_MS) await follower.catchUp();
  return follower.index.mergeStep();
}

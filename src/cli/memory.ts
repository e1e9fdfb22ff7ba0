/**
 * Limits the memory of long-running commands. By default V8 lets garbage grow to a multiple of the live heap, so a streamed
 * file appears to be held in memory.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Growth of the process, in bytes, before a garbage collection is forced. */
const GROWTH = 40 * 1024 * 1024;

/** @returns a function to call regularly; it collects garbage if the process has grown */
export function memoryKeeper(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const start = process.memoryUsage.rss();
  let after = start;
  return () => {
    if (process.memoryUsage.rss() < Math.max(start, after) + GROWTH) return;
    collect();
    // If live memory has grown since the start, the next collection waits for growth beyond it.
    after = Math.min(process.memoryUsage.rss(), start + GROWTH);
  };
}

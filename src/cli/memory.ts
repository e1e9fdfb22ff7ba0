/**
 * Keeps long work small: left to itself, the engine lets garbage grow to a multiple of what is alive, and a file that streams
 * through looks as if it were held in memory.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How much the process may grow before it is asked to tidy up, in bytes. */
const GROWTH = 40 * 1024 * 1024;

/** @returns what to call now and then: it collects garbage where the process has grown */
export function memoryKeeper(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const start = process.memoryUsage.rss();
  let after = start;
  return () => {
    if (process.memoryUsage.rss() < Math.max(start, after) + GROWTH) return;
    collect();
    // What is alive may be more than at the start: then it is asked again only when it has grown from there.
    after = Math.min(process.memoryUsage.rss(), start + GROWTH);
  };
}

/**
 * Loaded into a service by `NODE_OPTIONS=--import`, with the name of a file in `TURN_METER`: at SIGUSR2 it writes the processor time
 * of the longest turn of the event loop since the last signal to this file, in milliseconds.
 */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;
const file = process.env['TURN_METER'];

if (isMainThread && file !== undefined) {
  let longest = 0;
  let cpu = process.threadCpuUsage();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(cpu);
    longest = Math.max(longest, (user + system) / 1000);
    cpu = process.threadCpuUsage();
  }, TICK_MS).unref();
  process.on('SIGUSR2', () => {
    writeFileSync(file, String(longest));
    longest = 0;
  });
}

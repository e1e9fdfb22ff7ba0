/**
 * Processor time of this process while `run` runs, in milliseconds, for tests that guard against work that grows faster than its
 * input. Other programs count little: they can make the same work two to three times as expensive.
 */
export function processorMs(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Loaded first, with `--import`, by a process that test files share. Processes that its tests fork get its flags: without this, they
 * would run as tests.
 */
const SHARED = Symbol.for('docket.test.shared');
type Global = typeof globalThis & { [SHARED]?: true };

/** Whether this process runs test files that share it. */
export function isSharedProcess(): boolean {
  return (globalThis as Global)[SHARED] === true;
}

if (process.execArgv.includes('--test')) {
  (globalThis as Global)[SHARED] = true;
  process.execArgv.splice(0);
}

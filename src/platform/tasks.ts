/** A background task, as modules declare it; `worker/loop.ts` runs them. */
export interface Task {
  name: string;
  everyMs: number;
  /** Milliseconds between two runs while nothing is written to the database. Default `everyMs`. */
  idleMs?: number;
  /** Minimum milliseconds between two runs when the task is woken. Default 0. */
  gapMs?: number;
  /** @returns true if there is more work now; a number if there will be in so many milliseconds */
  run(): Promise<boolean | number | undefined>;
  /** The service stops: a long run should end soon. */
  leave?(): void;
  /** Waits for asynchronous work that the task started. */
  stop?(): Promise<void>;
}

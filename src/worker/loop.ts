/**
 * Background work: tasks that take no input, read state and reconcile, each on its own timer (architecture, section 3d).
 * A task that fails is logged and tried again at its next turn; it never ends the process.
 */

export interface Task {
  name: string;
  everyMs: number;
  /** @returns true when there is more to do at once */
  run(): Promise<boolean | undefined>;
}

export interface Loop {
  /** Runs every task once, now; for tests and for a graceful stop. */
  runOnce(): Promise<void>;
  stop(): Promise<void>;
}

export function startLoop(tasks: readonly Task[], onError: (task: string, error: unknown) => void): Loop {
  let stopped = false;
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Map<string, Promise<void>>();

  const turn = async (task: Task): Promise<void> => {
    try {
      while (!stopped && (await task.run()) === true);
    } catch (error) {
      onError(task.name, error);
    }
  };
  const schedule = (task: Task): void => {
    if (stopped) return;
    const timer = setTimeout(() => {
      const done = turn(task).finally(() => schedule(task));
      running.set(task.name, done);
    }, task.everyMs);
    timers.set(task.name, timer);
  };
  for (const task of tasks) schedule(task);

  return {
    async runOnce() {
      for (const task of tasks) await turn(task);
    },
    async stop() {
      stopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}

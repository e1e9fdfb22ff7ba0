/**
 * Runs background tasks. A task takes no input, reads state and reconciles it, on its own timer. A failed task is reported and
 * runs again at its next interval; it never ends the process.
 */

export interface Task {
  name: string;
  everyMs: number;
  /** Minimum milliseconds between two runs when the task is woken. Default 0. */
  gapMs?: number;
  /** @returns true if there is more work now */
  run(): Promise<boolean | undefined>;
  /** The service stops: a long run should end soon. */
  leave?(): void;
  /** Waits for asynchronous work that the task started. */
  stop?(): Promise<void>;
}

export interface Loop {
  /** Runs every task once, now. Used by tests. */
  runOnce(): Promise<void>;
  /** Runs the task now, or immediately after its current run. */
  wake(name: string): void;
  stop(): Promise<void>;
}

interface Turn {
  task: Task;
  timer: NodeJS.Timeout | undefined;
  running: Promise<void> | undefined;
  /** True if woken since its last run started. */
  again: boolean;
  endedAt: number;
}

/** What the loop reports of each run. */
export interface RunReport {
  failed(task: string, error: unknown): Promise<void>;
  succeeded(task: string): void;
}

export function startLoop(tasks: readonly Task[], report: RunReport): Loop {
  let stopped = false;
  const turns = new Map<string, Turn>();

  const work = async ({ task }: Turn): Promise<void> => {
    try {
      while (!stopped && (await task.run()) === true);
      report.succeeded(task.name);
    } catch (error) {
      await report.failed(task.name, error);
    }
  };
  const schedule = (turn: Turn, delayMs: number): void => {
    if (stopped) return;
    clearTimeout(turn.timer);
    turn.timer = setTimeout(() => {
      turn.timer = undefined;
      turn.again = false;
      turn.running = work(turn).finally(() => {
        turn.running = undefined;
        turn.endedAt = performance.now();
        schedule(turn, turn.again ? (turn.task.gapMs ?? 0) : turn.task.everyMs);
      });
    }, delayMs);
  };
  for (const task of tasks) {
    const turn: Turn = { task, timer: undefined, running: undefined, again: false, endedAt: Number.NEGATIVE_INFINITY };
    turns.set(task.name, turn);
    schedule(turn, task.everyMs);
  }

  return {
    async runOnce() {
      for (const turn of turns.values()) await work(turn);
    },
    wake(name) {
      const turn = turns.get(name);
      if (turn === undefined || turn.again) return;
      turn.again = true;
      if (turn.running !== undefined) return;
      const rested = performance.now() - turn.endedAt;
      schedule(turn, Math.max(0, (turn.task.gapMs ?? 0) - rested));
    },
    async stop() {
      stopped = true;
      for (const { timer, task } of turns.values()) {
        clearTimeout(timer);
        task.leave?.();
      }
      await Promise.all([...turns.values()].map((turn) => turn.running));
      await Promise.all([...turns.values()].map((turn) => turn.task.stop?.()));
    },
  };
}

/**
 * Background work: tasks that take no input, read state and reconcile, each on its own timer (architecture, section 3d).
 * A task that fails is logged and tried again at its next turn; it never ends the process.
 */

export interface Task {
  name: string;
  everyMs: number;
  /** The least time between two turns when something wakes the task; 0 unless said. */
  gapMs?: number;
  /** @returns true when there is more to do at once */
  run(): Promise<boolean | undefined>;
  /** Waits for what the task began and did not wait for. */
  stop?(): Promise<void>;
}

export interface Loop {
  /** Runs every task once, now; for tests and for a graceful stop. */
  runOnce(): Promise<void>;
  /** Gives the task its next turn now, or as soon as the one that runs is over. */
  wake(name: string): void;
  stop(): Promise<void>;
}

interface Turn {
  task: Task;
  timer: NodeJS.Timeout | undefined;
  running: Promise<void> | undefined;
  /** Woken while it ran. */
  again: boolean;
  endedAt: number;
}

export function startLoop(tasks: readonly Task[], onError: (task: string, error: unknown) => void): Loop {
  let stopped = false;
  const turns = new Map<string, Turn>();

  const work = async ({ task }: Turn): Promise<void> => {
    try {
      while (!stopped && (await task.run()) === true);
    } catch (error) {
      onError(task.name, error);
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
      for (const turn of turns.values()) clearTimeout(turn.timer);
      await Promise.all([...turns.values()].map((turn) => turn.running));
      await Promise.all([...turns.values()].map((turn) => turn.task.stop?.()));
    },
  };
}

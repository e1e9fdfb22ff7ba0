/**
 * Runs background tasks. A task takes no input, reads state and reconciles it, on its own timer. A failed task is reported and
 * runs again at its next interval; it never ends the process.
 *
 * A task that depends on nothing but the database runs at its interval while the database is written to, and rarely while it is
 * not, so that a service with nothing to do does nothing.
 */
import type { Task } from '../platform/tasks.ts';

export interface Loop {
  /** Runs every task once, now. Used by tests. */
  runOnce(): Promise<void>;
  /** Runs the task now, or immediately after its current run. */
  wake(name: string): void;
  /** The database was written to, by this or another process. */
  written(): void;
  stop(): Promise<void>;
}

interface ScheduledTask {
  task: Task;
  timer: NodeJS.Timeout | undefined;
  running: Promise<void> | undefined;
  /** True if woken since its last run started. */
  again: boolean;
  endedAt: number;
  /** True if the database was written to since its last run started. */
  written: boolean;
}

/** What the loop reports of each run. */
export interface RunReport {
  failed(task: string, error: unknown): Promise<void>;
  succeeded(task: string): void;
}

/** @param alone runs a function outside the current trace */
export function startLoop(
  tasks: readonly Task[],
  report: RunReport,
  alone: <T>(run: () => T) => T = (run) => run(),
): Loop {
  let stopped = false;
  const turns = new Map<string, ScheduledTask>();

  /** @returns in how many milliseconds there is more work, if the task knows */
  const work = async ({ task }: ScheduledTask): Promise<number> => {
    try {
      let left = await alone(() => task.run());
      while (!stopped && left === true) left = await alone(() => task.run());
      report.succeeded(task.name);
      return typeof left === 'number' ? left : Number.POSITIVE_INFINITY;
    } catch (error) {
      await report.failed(task.name, error);
      return 0;
    }
  };
  const pauseOf = ({ task, written }: ScheduledTask, nextMs: number): number => {
    const { everyMs, idleMs = everyMs } = task;
    return written ? everyMs : Math.max(everyMs, Math.min(idleMs, nextMs));
  };
  const schedule = (turn: ScheduledTask, delayMs: number): void => {
    if (stopped) return;
    clearTimeout(turn.timer);
    turn.timer = setTimeout(() => {
      turn.timer = undefined;
      turn.running = run(turn);
    }, delayMs);
  };
  const run = async (turn: ScheduledTask): Promise<void> => {
    turn.again = false;
    turn.written = false;
    const nextMs = await work(turn);
    turn.running = undefined;
    turn.endedAt = performance.now();
    schedule(turn, turn.again ? (turn.task.gapMs ?? 0) : pauseOf(turn, nextMs));
  };
  for (const task of tasks) {
    const turn: ScheduledTask = {
      task,
      timer: undefined,
      running: undefined,
      again: false,
      endedAt: Number.NEGATIVE_INFINITY,
      written: true,
    };
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
    written() {
      for (const turn of turns.values()) {
        if (turn.written) continue;
        turn.written = true;
        // It may wait for long: at its interval, there is work again.
        if (turn.running !== undefined || turn.again || turn.task.idleMs === undefined) continue;
        schedule(turn, Math.max(0, turn.endedAt + turn.task.everyMs - performance.now()));
      }
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

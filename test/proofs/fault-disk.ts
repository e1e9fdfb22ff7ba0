/** Disks of a fixed size that fill up under a mixed write load. Needs root to mount a memory file system. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Outcome, runUnderLoad } from './fault-injection.ts';
import type { FaultEnvironment } from './fault-environment.ts';

/** Mounts memory of that size there. @returns what unmounts it */
export function mountSmall(folder: string, mebibytes: number): () => void {
  mkdirSync(folder, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0711`, 'tmpfs', folder]);
  return () => {
    execFileSync('umount', ['-l', folder]);
  };
}

/**
 * Fills the disk completely, waits, frees space, and waits until writes succeed again without intervention. PostgreSQL may
 * reject writes meanwhile, or end and be restarted.
 */
export async function fillDisk(
  environment: FaultEnvironment,
  disk: string,
  name: string,
  seed: number,
  fullMs: number,
): Promise<Outcome> {
  const filler = path.join(disk, 'filler');
  let refused = 0;
  const outcome = await runUnderLoad({
    stage: environment,
    name,
    seed,
    clients: 8,
    backMs: 60_000,
    faults: async () => {
      await sleep(1500);
      fill(disk, filler);
      const until = performance.now() + fullMs;
      while (performance.now() < until) {
        await sleep(200);
        // Space that is freed meanwhile is filled again.
        fill(disk, `${filler}-${refused++}`);
      }
      for (let turn = 0; turn < refused; turn++) rmSync(`${filler}-${turn}`, { force: true });
      rmSync(filler, { force: true });
      for (let turn = 0; turn < environment.processes; turn++) await environment.untilAnswered(turn);
      await sleep(1500);
    },
  });
  const problems = [...outcome.problems];
  if (outcome.journal.refused === 0) problems.push('nothing was refused: the disk was not full');
  return { ...outcome, problems };
}

function fill(disk: string, file: string): void {
  const { bavail, bsize } = statfsSync(disk);
  const chunk = Buffer.alloc(64 * 1024);
  try {
    for (let left = bavail * bsize; left > 0; left -= chunk.length) writeFileSync(file, chunk, { flag: 'a' });
  } catch {
    // It is full now.
  }
}

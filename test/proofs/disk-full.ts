/**
 * `npm run test:disk-full [-- --seconds 8 --seed N]`, as root: the disk of the files is full for a while, then the disk of the
 * database with its log.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fillDisk, mountSmall } from './fault-disk.ts';
import { summaryOf } from './fault-injection.ts';
import { longRun } from './long-run.ts';
import { FaultEnvironment } from './fault-environment.ts';

const run = longRun({ seconds: 8 });
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'docket-full-')));
const mounts: (() => void)[] = [];
const problems: string[] = [];
let environment: FaultEnvironment | undefined;
try {
  const data = path.join(folder, 'data');
  mounts.push(mountSmall(data, 256));
  const files = path.join(folder, 'files');
  mounts.push(mountSmall(files, 16));
  environment = await FaultEnvironment.start({ folder, settings: { DOCKET_BLOBS: `file:${files}` } });
  for (const [what, disk] of [
    ['files', files],
    ['data', data],
  ] as const) {
    const outcome = await fillDisk(environment, disk, what, run.seed, run.number('seconds') * 1000);
    run.say(`${what}: ${summaryOf(outcome)}`);
    problems.push(...outcome.problems.map((problem) => `${what}: ${problem}`));
  }
} finally {
  await environment?.close();
  for (const unmount of mounts.toReversed()) unmount();
  rmSync(folder, { recursive: true, force: true });
}
run.end(problems);

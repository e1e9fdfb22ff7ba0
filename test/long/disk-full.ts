/**
 * `npm run test:disk-full [-- --seconds 8 --seed N]`, as root: the disk of the files is full for a while, then
 * the disk of the database with its log.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fillDisk, mountSmall } from '../harness/fault-disk.ts';
import { told } from '../harness/fault-load.ts';
import { longRun } from '../harness/fault-run.ts';
import { Stage } from '../harness/fault-stage.ts';

const run = longRun({ seconds: 8 });
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'docket-full-')));
const mounts: (() => void)[] = [];
const problems: string[] = [];
let stage: Stage | undefined;
try {
  const data = path.join(folder, 'data');
  mounts.push(mountSmall(data, 256));
  const files = path.join(folder, 'files');
  mounts.push(mountSmall(files, 16));
  stage = await Stage.start({ folder, settings: { DOCKET_BLOBS: `file:${files}` } });
  for (const [what, disk] of [
    ['files', files],
    ['data', data],
  ] as const) {
    const outcome = await fillDisk(stage, disk, what, run.seed, run.number('seconds') * 1000);
    run.say(`${what}: ${told(outcome)}`);
    problems.push(...outcome.problems.map((problem) => `${what}: ${problem}`));
  }
} finally {
  await stage?.close();
  for (const unmount of mounts.toReversed()) unmount();
  rmSync(folder, { recursive: true, force: true });
}
run.end(problems);

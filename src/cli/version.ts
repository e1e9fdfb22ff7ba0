/** The version of this build and the commit that it was made from. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { VERSION } from './command.ts';

/** Of an installed package: written by `tools/build.mjs` beside its modules. */
const BUILT = path.join(import.meta.dirname, '..', 'commit.txt');
const CLONE = path.join(import.meta.dirname, '..', '..', '.git');
const COMMIT = /^[0-9a-f]{40,64}$/;
const SHOWN = 12;

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** The commit of a clone, read without starting git. In a worktree, `.git` is a file that names the folder. */
function commitOf(git: string): string | undefined {
  const elsewhere = /^gitdir: (.*)$/.exec(textOf(git) ?? '')?.[1];
  const folder = elsewhere === undefined ? git : path.resolve(path.dirname(git), elsewhere);
  const head = textOf(path.join(folder, 'HEAD'));
  const branch = /^ref: (.*)$/.exec(head ?? '')?.[1];
  if (branch === undefined) return head;
  const common = path.resolve(folder, textOf(path.join(folder, 'commondir')) ?? '.');
  const packed = (): string | undefined => {
    const line = textOf(path.join(common, 'packed-refs'))
      ?.split('\n')
      .find((one) => one.endsWith(` ${branch}`));
    return line?.split(' ')[0];
  };
  return textOf(path.join(common, branch)) ?? packed();
}

/**
 * For example `0.1.0 (commit 4091d2171c0f)`; without the commit if it is unknown, as in an archive of the sources.
 *
 * @param built the file with the commit
 * @param git the folder or file `.git` of a clone
 */
export function versionText(built = BUILT, git = CLONE): string {
  const commit = textOf(built) ?? commitOf(git);
  return commit !== undefined && COMMIT.test(commit) ? `${VERSION} (commit ${commit.slice(0, SHOWN)})` : VERSION;
}

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { VERSION } from './command.ts';
import { versionText } from './version.ts';

describe('the version of a build', () => {
  let folder: string;
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    }).trim();
  const none = (): string => path.join(folder, 'none');
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'docket-version-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('names the commit of a clone, of a worktree, of packed branches and of a commit without a branch', () => {
    git(folder, 'init', '-q', '-b', 'main', 'clone');
    const clone = path.join(folder, 'clone');
    const shown = (of = clone): string => versionText(none(), path.join(of, '.git'));
    const commit = (of = clone): string => {
      git(of, 'commit', '-q', '--allow-empty', '-m', 'one');
      return `${VERSION} (commit ${git(of, 'rev-parse', 'HEAD').slice(0, 12)})`;
    };
    assert.equal(shown(), VERSION);
    const first = commit();
    assert.equal(shown(), first);
    git(clone, 'pack-refs', '--all');
    assert.equal(shown(), first);
    const tree = path.join(folder, 'tree');
    git(clone, 'worktree', 'add', '-q', tree, '-b', 'work/one');
    assert.equal(shown(tree), first);
    const second = commit(tree);
    assert.notEqual(second, first);
    assert.equal(shown(tree), second);
    assert.equal(shown(), first);
    git(clone, 'checkout', '-q', 'work/one~0');
    assert.equal(shown(), second);
  });

  it('names the commit that a package was built from, and none if it is unknown', () => {
    const built = path.join(folder, 'commit.txt');
    writeFileSync(built, `${'ab'.repeat(20)}\n`);
    assert.equal(versionText(built, none()), `${VERSION} (commit abababababab)`);
    assert.equal(versionText(none(), none()), VERSION);
  });
});

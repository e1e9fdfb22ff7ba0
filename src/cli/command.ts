/**
 * Shared by all commands: settings, output, error messages and a memory limit. Commands read the settings when they run, so
 * `--help` needs none.
 */
import { readFileSync } from 'node:fs';
import { sep } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { InvalidArgumentError } from 'commander';
import type { FaultDetail } from '../lib/fault.ts';
import { atMostEvery } from '../lib/yielding.ts';
import type { Settings } from '../settings.ts';

/** The version in the `package.json` of this installation or clone. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

export interface Environment {
  settings(): Settings;
  /** The complete environment, for child processes and for the variables of a service elsewhere. */
  inherited: Readonly<Record<string, string | undefined>>;
}

/** How users call this installation: a clone has a launcher, an installed package the command of npm. */
export const CALLED_AS = import.meta.dirname.split(sep).includes('node_modules') ? 'npx docket' : './docket';

/** The option that every command has. */
export interface Json {
  json?: boolean;
}

/** Output of a command: text for users by default, JSON with `--json`. Errors go to standard error with exit code 1. */
export interface Output {
  /** The result: JSON with `--json`, else text lines. */
  result(value: unknown, lines: readonly string[]): void;
  /** Progress and remarks; omitted with `--json`. */
  say(line: string): void;
}

export function output(json: boolean): Output {
  return {
    result: (value, lines) => {
      process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : lines.map((line) => `${line}\n`).join(''));
    },
    say: (line) => {
      if (!json) process.stderr.write(`${line}\n`);
    },
  };
}

/** Control characters and those that change the direction of text: names come from other people. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A remark on standard error, also with `--json`. */
export function warn(line: string): void {
  process.stderr.write(`docket: ${line}\n`);
}

const TROUBLE: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'the file or its folder does not exist'],
  ['EISDIR', 'it is a folder'],
  ['ENOTDIR', 'a part of the path is not a folder'],
  ['EEXIST', 'a file of that name already exists'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is exceeded'],
]);

/** The message for an operating system error, with its path; undefined for other errors. */
function troubleWithSystem(error: Error): string | undefined {
  const { code, path, syscall, message } = error as NodeJS.ErrnoException;
  if (syscall === 'connect' || syscall === 'getaddrinfo') {
    return `${message}: no server answers there; check that the server of DATABASE_URL (or DOCKET_BLOBS) runs and is reachable.`;
  }
  if (code === undefined || path === undefined) return undefined;
  const why = TROUBLE.get(code);
  return why === undefined ? undefined : `${path} cannot be read or written: ${why} (${code}).`;
}

/** The error message, with one line per detail: of a fault, here or in the answer of a service. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // None of several addresses of one name answered; the message is in the inner errors.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  const lines = [troubleWithSystem(error) ?? error.message];
  const { details } = error as { details?: unknown };
  if (Array.isArray(details)) {
    for (const detail of details as FaultDetail[]) lines.push(`  ${detail.path}: ${detail.message}`);
  } else if (typeof details === 'object' && details !== null && Object.keys(details).length > 0) {
    lines.push(`  ${JSON.stringify(details)}`);
  }
  return lines.join('\n');
}

/** A parser of an option or argument whose errors are wrong usage. @param parse throws an Error with a message for the user */
export function usage<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(reasonOf(error));
    }
  };
}

/** The values of an option that may be repeated, each of which may be a list with commas. */
export function several(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(',').filter((one) => one !== '')];
}

/** Growth of the process, in bytes, before a garbage collection is forced. */
const GROWTH = 40 * 1024 * 1024;

/**
 * Limits the memory of a long-running command. By default V8 lets garbage grow to a multiple of the live heap, so a streamed
 * file appears to be held in memory.
 *
 * @returns a function to call regularly; it collects garbage if the process has grown
 */
function memoryKeeper(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const start = process.memoryUsage.rss();
  let after = start;
  return () => {
    if (process.memoryUsage.rss() < Math.max(start, after) + GROWTH) return;
    collect();
    // If live memory has grown since the start, the next collection waits for growth beyond it.
    after = Math.min(process.memoryUsage.rss(), start + GROWTH);
  };
}

/** Milliseconds between two progress lines. */
const PROGRESS_MS = 5000;

/** Returns a function to call regularly during long work. It limits memory, and tells whether a progress line is due. */
export function progressKeeper(): () => boolean {
  const tidy = memoryKeeper();
  const isDue = atMostEvery(PROGRESS_MS);
  return () => {
    tidy();
    return isDue();
  };
}

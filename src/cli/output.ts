/** Output of commands: text for users by default, JSON with `--json`. Errors go to standard error with exit code 1. */
import { isFault } from '../lib/fault.ts';

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

const TROUBLE: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'it, or the folder that it is to be in, is not there or cannot be made'],
  ['EISDIR', 'it is a folder'],
  ['ENOTDIR', 'a part of the path is no folder'],
  ['EEXIST', 'a file of that name is there already'],
  ['EACCES', 'this user may not'],
  ['EPERM', 'this user may not'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the quota of this user is used up'],
]);

/** The message for an operating system error, with its path; undefined for other errors. */
function troubleWithSystem(error: Error): string | undefined {
  const { code, path, syscall, message } = error as NodeJS.ErrnoException;
  if (syscall === 'connect' || syscall === 'getaddrinfo') {
    return `${message}: nobody answers there; see that what DATABASE_URL (or DOCKET_BLOBS) names runs and can be reached.`;
  }
  if (code === undefined || path === undefined) return undefined;
  const why = TROUBLE.get(code);
  return why === undefined ? undefined : `${path} cannot be read or written: ${why} (${code}).`;
}

/** The error message, with one line per detail. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // None of several addresses of one name answered; the message is in the inner errors.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  const lines = [troubleWithSystem(error) ?? error.message];
  if (isFault(error)) {
    if (Array.isArray(error.details)) {
      for (const detail of error.details) lines.push(`  ${detail.path}: ${detail.message}`);
    } else if (Object.keys(error.details).length > 0) lines.push(`  ${JSON.stringify(error.details)}`);
  }
  return lines.join('\n');
}

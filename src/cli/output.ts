/** How commands speak: for a person by default, for a machine with `--json`; refusals go to standard error, exit code 1. */
import { isFault } from '../lib/fault.ts';

export interface Output {
  /** The result: as JSON with `--json`, else the lines for a person. */
  result(value: unknown, lines: readonly string[]): void;
  /** Progress and remarks for a person; nothing with `--json`. */
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

/** What the operating system refused, with the place, in a sentence; undefined for every other error. */
function troubleWithSystem(error: Error): string | undefined {
  const { code, path, syscall, message } = error as NodeJS.ErrnoException;
  if (syscall === 'connect' || syscall === 'getaddrinfo') {
    return `${message}: nobody answers there; see that what DATABASE_URL (or DOCKET_BLOBS) names runs and can be reached.`;
  }
  if (code === undefined || path === undefined) return undefined;
  const why = TROUBLE.get(code);
  return why === undefined ? undefined : `${path} cannot be read or written: ${why} (${code}).`;
}

/** The reason of a refusal in sentences, each problem with its place. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Several addresses of one name, of which none answered: their errors say it.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  const lines = [troubleWithSystem(error) ?? error.message];
  if (isFault(error)) {
    if (Array.isArray(error.details)) {
      for (const detail of error.details) lines.push(`  ${detail.path}: ${detail.message}`);
    } else if (Object.keys(error.details).length > 0) lines.push(`  ${JSON.stringify(error.details)}`);
  }
  return lines.join('\n');
}

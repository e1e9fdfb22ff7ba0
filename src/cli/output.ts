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

/** The reason of a refusal in sentences, each problem with its place. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const lines = [error.message];
  if (isFault(error)) {
    if (Array.isArray(error.details)) {
      for (const detail of error.details) lines.push(`  ${detail.path}: ${detail.message}`);
    } else if (Object.keys(error.details).length > 0) lines.push(`  ${JSON.stringify(error.details)}`);
  }
  return lines.join('\n');
}

/** What the long fault tests share: options, lines with the time, the verdict. */
import { parseArgs } from 'node:util';

export interface LongRun {
  number(name: string): number;
  seed: number;
  say(line: string): void;
  /** Reports problems and ends the process. */
  end(problems: readonly string[]): never;
}

/** `defaults`: the options of the script besides `--seed`. */
export function longRun(defaults: Readonly<Record<string, number>>): LongRun {
  const options = Object.entries({ ...defaults, seed: Math.floor(Math.random() * 1e9) });
  const { values } = parseArgs({
    options: Object.fromEntries(
      options.map(([name, value]) => [name, { type: 'string', default: String(value) } as const]),
    ),
  });
  const given = values as Record<string, string>;
  const began = performance.now();
  const say = (line: string): void => {
    process.stdout.write(`${Math.round((performance.now() - began) / 1000)} s: ${line}\n`);
  };
  say(options.map(([name]) => `--${name} ${given[name]}`).join(' '));
  return {
    number: (name) => Number(given[name]),
    seed: Number(given['seed']),
    say,
    end: (problems) => {
      for (const problem of problems.slice(0, 30)) say(problem);
      say(problems.length === 0 ? 'everything holds' : `${problems.length} things are wrong`);
      process.exit(problems.length === 0 ? 0 : 1);
    },
  };
}

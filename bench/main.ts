/**
 * `npm run bench [-- scenario…]`: compares the service with the baseline server on temporary databases. Scenarios and method:
 * docs/reference/performance.md.
 */
import { mkdtemp, chmod, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { COST_USAGE, measureCost } from './cost/main.ts';
import { CYCLE_USAGE, measureCycle } from './cycle.ts';
import { Load } from './load.ts';
import { stopAll } from './processes.ts';
import { makeReport, printed } from './report.ts';
import { measureAll, type Plan } from './rounds.ts';
import { SCENARIOS, scenarioOf } from './scenarios.ts';
import { measureRivals, RIVALS_USAGE } from './rivals/main.ts';
import { measureSearch, SEARCH_USAGE } from './search/main.ts';
import { measureQuality } from './search-quality/main.ts';
import { OpenedEnvironment, openEnvironment, type Environment } from './environment.ts';

const USAGE = `npm run bench [-- [options] [scenario…]]

  --records LIST    numbers of records, one database each (default 20000,1000000)
  --seconds N       length of one run (default 5)
  --rounds N        runs of each kind (default 5)
  --connections N   requests under way at once (default 16)
  --quick           20,000 records, 2 rounds of 1 second: whether it works, no figures to quote
  --impatient       does not wait until others leave the machine alone
  --json FILE       writes the figures as JSON too
  --profile DIR     writes a CPU profile of each service there when it stops
  --keep            leaves the services and databases running at the end, until Ctrl-C

scenarios (default: all):
${SCENARIOS.map((scenario) => `  ${scenario.name.padEnd(16)}  ${scenario.says}`).join('\n')}

npm run bench -- search-quality [--every N] [--no-comments] [folder of the judged sets]

  --every N           asks every Nth question of the largest set, which takes minutes
${SEARCH_USAGE}
${COST_USAGE}
${CYCLE_USAGE}
${RIVALS_USAGE}`;

/** Benchmarks that do not compare requests with the baseline server; each has its own options. */
const OTHERS = new Map([
  ['search', measureSearch],
  ['search-quality', measureQuality],
  ['cost', measureCost],
  ['cycle', measureCycle],
  ['--rivals', measureRivals],
]);

interface Options {
  records: number[];
  plan: Plan;
  json: string | undefined;
  profile: string | undefined;
  keep: boolean;
}

function positive(text: string, name: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} takes a positive number`);
  return value;
}

function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      records: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      connections: { type: 'string' },
      quick: { type: 'boolean', default: false },
      impatient: { type: 'boolean', default: false },
      json: { type: 'string' },
      profile: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const number = (name: 'seconds' | 'rounds' | 'connections', usual: number, quick: number): number =>
    positive(values[name] ?? String(values.quick ? quick : usual), name);
  const records = values.records ?? (values.quick ? '20000' : '20000,1000000');
  return {
    records: records
      .split(',')
      .map((text) => positive(text, 'records'))
      .sort((a, b) => a - b),
    plan: {
      scenarios:
        positionals.length === 0
          ? SCENARIOS.map((scenario) => scenario.name)
          : positionals.map((name) => scenarioOf(name).name),
      rounds: number('rounds', 5, 2),
      seconds: number('seconds', 5, 1),
      connections: number('connections', 16, 16),
      patient: !values.impatient,
    },
    json: values.json,
    profile: values.profile === undefined ? undefined : path.resolve(values.profile),
    keep: values.keep,
  };
}

function say(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

async function bench(options: Options, folder: string, opened: OpenedEnvironment): Promise<void> {
  const environments: Environment[] = [];
  for (const records of options.records) {
    const tell = (line: string): void => say(`${records.toLocaleString('en')} records: ${line}`);
    environments.push(
      await openEnvironment(path.join(folder, String(records)), records, options.profile, opened, tell),
    );
  }
  const load = new Load();
  opened.add(async () => load.stop());
  for (const environment of environments) load.introduce(environment.name, environment.target);
  const outcome = await measureAll(load, environments, options.plan, say);
  const report = makeReport(environments, options.plan, outcome);
  process.stdout.write(`\n${printed(report)}\n`);
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
  if (!options.keep) return;
  for (const { name, target, databaseUrl } of environments) {
    say(`${name} records: port ${target.ports.docket}, key ${target.key}, database ${databaseUrl}`);
  }
  await new Promise(() => {});
}

async function main(): Promise<void> {
  const [first = '', ...others] = process.argv.slice(2);
  const other = OTHERS.get(first);
  const options = other === undefined ? readOptions(process.argv.slice(2)) : undefined;
  if (other === undefined && options === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-bench-'));
  // The database's own user must be able to pass through, where root runs it as another.
  await chmod(folder, 0o711);
  const opened = new OpenedEnvironment();
  try {
    const work = options === undefined ? other?.(others, folder, opened, say) : bench(options, folder, opened);
    await Promise.race([work, interrupted()]);
  } finally {
    await opened.close();
    await stopAll();
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
}
// An interrupted benchmark leaves pending promises that nothing awaits.
process.exit();

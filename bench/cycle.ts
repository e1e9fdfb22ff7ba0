/**
 * `npm run bench -- cycle [options]`: rates over a whole checkpoint cycle. The first change of a page after a checkpoint writes
 * the whole page to the log, so a service is slowest at the first use of a day. Each subject runs alone, after a restart and a
 * checkpoint. The operating system's page cache stays warm.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type Environment, type OpenedEnvironment, openEnvironment } from './environment.ts';
import { Load } from './load.ts';
import { table } from './report.ts';
import { median } from './rounds.ts';
import { SUBJECTS, type Subject } from './scenario.ts';
import { scenarioOf } from './scenarios.ts';

export const CYCLE_USAGE = `npm run bench -- cycle [options] [scenario]

  --records LIST      numbers of records (default 20000,1000000)
  --minutes N         length for each subject (default 16, one more than the time between two checkpoints)
  --connections N     requests under way at once (default 16)
  --subjects LIST     docket, baseline (default both)
  scenario            default update
`;

const SLICE_SECONDS = 20;

/** Figures of one slice of the cycle. */
interface Slice {
  rate: number;
  p99: number;
  /** Kilobytes of log for each request. */
  log: number;
  /** Checkpoints that ended during the slice. */
  checkpoints: number;
}

interface Counters {
  bytes: number;
  checkpoints: number;
}

async function counters(db: pg.Client): Promise<Counters> {
  const { rows } = await db.query<Counters>(
    `SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS bytes,
      (SELECT num_done::int FROM pg_stat_checkpointer) AS checkpoints`,
  );
  return rows[0] ?? { bytes: 0, checkpoints: 0 };
}

async function cycle(
  load: Load,
  environment: Environment,
  subject: Subject,
  plan: { scenario: string; connections: number; minutes: number },
): Promise<Slice[]> {
  const db = new pg.Client({ connectionString: environment.databaseUrl });
  await db.connect();
  await db.query('CHECKPOINT');
  const slices: Slice[] = [];
  const { scenario, connections } = plan;
  for (let before = await counters(db); slices.length * SLICE_SECONDS < plan.minutes * 60; ) {
    const run = { environment: environment.name, subject, scenario, seconds: SLICE_SECONDS, connections };
    const { requests, rate, p99, unexpected, example } = await load.run(run);
    if (Object.keys(unexpected).length > 0) throw new Error(`${scenario} of ${subject} failed: ${example}`);
    const after = await counters(db);
    const log = (after.bytes - before.bytes) / 1000 / requests;
    slices.push({ rate, p99, log, checkpoints: after.checkpoints - before.checkpoints });
    before = after;
  }
  await db.end();
  return slices;
}

function printed(name: string, subject: Subject, slices: readonly Slice[]): string {
  const rows = slices.map(({ rate, p99, log, checkpoints }, index) => [
    String(index * SLICE_SECONDS),
    rate.toFixed(0),
    p99.toFixed(1),
    log.toFixed(1),
    String(checkpoints),
  ]);
  const whole = slices.reduce((sum, { rate }) => sum + rate, 0) / slices.length;
  const summary = `${name} records, ${subject}: ${whole.toFixed(0)} requests/s over the whole time, ${(slices[0]?.rate ?? 0).toFixed(0)} at first, median of slices ${median(slices.map(({ rate }) => rate)).toFixed(0)}`;
  return `${summary}\n\n${table(['second', 'requests/s', 'p99 ms', 'log, KB per request', 'checkpoints'], rows)}\n`;
}

export async function measureCycle(
  args: string[],
  folder: string,
  opened: OpenedEnvironment,
  say: (line: string) => void,
): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      records: { type: 'string', default: '20000,1000000' },
      minutes: { type: 'string', default: '16' },
      connections: { type: 'string', default: '16' },
      subjects: { type: 'string', default: SUBJECTS.join(',') },
    },
  });
  const asked = values.subjects.split(',');
  const subjects = SUBJECTS.filter((subject) => asked.includes(subject));
  const scenario = scenarioOf(positionals[0] ?? 'update').name;
  const plan = { scenario, connections: Number(values.connections), minutes: Number(values.minutes) };
  const load = new Load();
  opened.add(async () => load.stop());
  for (const records of values.records.split(',').map(Number)) {
    const place = path.join(folder, String(records));
    const tell = (line: string): void => say(`${records.toLocaleString('en')} records: ${line}`);
    const environment = await openEnvironment(place, records, undefined, opened, tell);
    load.introduce(environment.name, environment.target);
    for (const subject of subjects) {
      const slices = await cycle(load, environment, subject, plan);
      process.stdout.write(`\n${printed(environment.name, subject, slices)}`);
    }
  }
}

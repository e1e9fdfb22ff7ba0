/**
 * `npm run bench -- --rivals`: Directus and Strapi beside the service and the baseline server, on the same machine, database
 * server and load generator, in alternating rounds. They are installed from npm into a folder; they are no dependencies.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type OpenedEnvironment, openEnvironment } from '../environment.ts';
import { Load } from '../load.ts';
import { freePort, otherLoad, readProcessors, spentBy } from '../processes.ts';
import { table } from '../report.ts';
import { median } from '../rounds.ts';
import type { DatabaseFacts, Subject } from '../scenario.ts';
import { startDirectus } from './directus.ts';
import type { Rival, RivalOptions } from './rival.ts';
import { COMPARED } from './scenarios.ts';
import { startStrapi } from './strapi.ts';

export const RIVALS_USAGE = `npm run bench -- --rivals [options]

  --records N         number of records of each system (default 20000)
  --seconds N         length of one run (default 5)
  --rounds N          runs of each kind (default 5)
  --connections N     requests under way at once (default 16)
  --only LIST         directus, strapi (default both)
  --install DIR       folder of the installations, used again if it holds them (default: a temporary one)
`;

const STARTS = { directus: startDirectus, strapi: startStrapi } as const;

interface System {
  name: string;
  environment: string;
  subject: Subject;
  scenario: (name: string) => string;
  pid: number;
}

interface Run {
  rate: number;
  p50: number;
  serverMicros: number;
  databaseMicros: number;
}

async function databaseFor(name: string, adminUrl: string): Promise<string> {
  const db = new pg.Client({ connectionString: adminUrl });
  await db.connect();
  await db.query(`CREATE DATABASE ${name}`);
  await db.end();
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function startRivals(
  names: readonly (keyof typeof STARTS)[],
  options: { folder: string; databaseUrl: string; records: number; facts: DatabaseFacts },
  say: (line: string) => void,
): Promise<Rival[]> {
  const rivals: Rival[] = [];
  for (const name of names) {
    say(`installing and starting ${name}`);
    const own: RivalOptions = {
      ...options,
      folder: path.join(options.folder, name),
      port: await freePort(),
      databaseUrl: await databaseFor(name, options.databaseUrl),
    };
    rivals.push(await STARTS[name](own));
  }
  return rivals;
}

export async function measureRivals(
  args: string[],
  folder: string,
  opened: OpenedEnvironment,
  say: (line: string) => void,
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      records: { type: 'string', default: '20000' },
      seconds: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '16' },
      only: { type: 'string', default: 'directus,strapi' },
      install: { type: 'string' },
    },
  });
  const [records, seconds, rounds, connections] = [
    values.records,
    values.seconds,
    values.rounds,
    values.connections,
  ].map(Number) as [number, number, number, number];
  const environment = await openEnvironment(path.join(folder, 'docket'), records, undefined, opened, say);
  const { target, databaseUrl, postmaster } = environment;
  const names = values.only.split(',').filter((name) => name === 'directus' || name === 'strapi');
  const place = path.resolve(values.install ?? path.join(folder, 'rivals'));
  const rivals = await startRivals(names, { folder: place, databaseUrl, records, facts: target.facts }, say);
  const load = new Load();
  opened.add(async () => load.stop());
  load.introduce(environment.name, target);
  for (const rival of rivals) load.introduce(rival.name, rival.target);
  const own = (name: string, subject: Subject, pid: number | undefined): System => ({
    name,
    environment: environment.name,
    subject,
    scenario: (scenario) => scenario,
    pid: pid ?? 0,
  });
  const systems: System[] = [
    own('Docket', 'docket', environment.service.child.pid),
    own('baseline', 'baseline', environment.baseline.child.pid),
    ...rivals.map(({ name, version, child }) => ({
      name: `${name} ${version}`,
      environment: name,
      subject: 'docket' as const,
      scenario: (scenario: string) => `${name}:${scenario}`,
      pid: child.pid ?? 0,
    })),
  ];
  const roots = [process.pid, postmaster ?? 0];
  let disturbed = 0;
  const measure = async (system: System, name: string, length: number): Promise<Run> => {
    const scenario = system.scenario(name);
    const processors = readProcessors(roots);
    const before = spentBy(system.pid, postmaster);
    const run = { environment: system.environment, subject: system.subject, scenario, seconds: length, connections };
    const { requests, rate, p50, unexpected, example } = await load.run(run);
    const after = spentBy(system.pid, postmaster);
    if (Object.keys(unexpected).length > 0) {
      throw new Error(`${scenario} of ${system.name}: ${JSON.stringify(unexpected)} ${example}`);
    }
    disturbed = Math.max(disturbed, otherLoad(processors, readProcessors(roots)));
    const micros = (part: 'server' | 'database'): number => ((after[part] - before[part]) * 1e6) / requests;
    return { rate, p50, serverMicros: micros('server'), databaseMicros: micros('database') };
  };
  const rows: string[][] = [];
  const spent: string[][] = [];
  for (const name of COMPARED) {
    for (const system of systems) await measure(system, name, Math.min(2, seconds));
    const runs = systems.map((): Run[] => []);
    for (let round = 0; round < rounds; round++) {
      const turns = [...systems.entries()];
      for (const [index, system] of round % 2 === 0 ? turns : turns.toReversed()) {
        runs[index]?.push(await measure(system, name, seconds));
      }
    }
    const of = (index: number, figure: keyof Run): number => median((runs[index] ?? []).map((run) => run[figure]));
    const ratio = (index: number): string =>
      median((runs[0] ?? []).map((run, round) => run.rate / (runs[index]?.[round]?.rate ?? Number.NaN))).toFixed(2);
    rows.push([
      name,
      ...systems.map((_, index) => of(index, 'rate').toFixed(0)),
      ...systems.slice(1).map((_, index) => ratio(index + 1)),
    ]);
    spent.push([
      name,
      ...systems.map(
        (_, index) => `${of(index, 'serverMicros').toFixed(0)} + ${of(index, 'databaseMicros').toFixed(0)}`,
      ),
    ]);
    say(`${name} measured`);
  }
  const labels = systems.map((system) => system.name);
  const head = `${connections} connections, ${rounds} alternating rounds of ${seconds} s, medians; other processes used at most ${disturbed.toFixed(2)} processors`;
  const rates = table(['requests/s', ...labels, ...labels.slice(1).map((label) => `Docket / ${label}`)], rows);
  process.stdout.write(
    `\n${head}\n\n${rates}\n\n${table(['CPU µs a request, server + database', ...labels], spent)}\n`,
  );
}

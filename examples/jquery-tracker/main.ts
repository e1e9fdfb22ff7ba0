/** Replays the public bug tracker of jQuery through the API of a running service. README.md describes how and why. */
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from './client.ts';
import { planLife } from './timeline.ts';
import {
  cast,
  configure,
  duplicateDefinition,
  fieldSpecs,
  issueKeys,
  TYPE,
  userIds,
  writeBundle,
} from './configure.ts';
import { dataFolder, readTracker } from './data.ts';
import { codeOf, fieldsOf } from './fields.ts';
import { Journal } from './journal.ts';
import { planTicket } from './plan.ts';
import { Progress } from './progress.ts';
import { linksOf } from './reading.ts';
import { Replay } from './replay.ts';
import { makeReport, type Phase, type Report, reportLines } from './report.ts';
import { type Service, startService } from './service.ts';
import { summarise } from './source-summary.ts';
import { verify } from './verify.ts';
import { deriveWorkflow } from './workflow.ts';

const USAGE = `usage: npm run example:jquery -- [--limit N] [--workers N] [--data DIR] [--keep]
  --limit N    the first N tickets alone
  --workers N  tickets at once (default 16)
  --data DIR   where the service's data, the progress and the report go; the same DIR goes on where a killed run ended
  --keep       leave the service running at the end`;

interface Options {
  limit: number;
  workers: number;
  data: string | undefined;
  keep: boolean;
}

class UsageError extends Error {}

function natural(text: string, name: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new UsageError(`--${name} takes a whole number from 1`);
  return Number(text);
}

function readOptions(args: string[]): Options {
  const string = { type: 'string' } as const;
  let values: { limit?: string; workers?: string; data?: string; keep?: boolean };
  try {
    const options = { limit: string, workers: string, data: string, keep: { type: 'boolean' } } as const;
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  return {
    limit: values.limit === undefined ? Number.POSITIVE_INFINITY : natural(values.limit, 'limit'),
    workers: values.workers === undefined ? 16 : natural(values.workers, 'workers'),
    data: values.data,
    keep: values.keep === true,
  };
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Does it all on a service that answers. */
async function replayTracker(
  service: Service | undefined,
  client: Client,
  folder: string,
  source: string,
  options: Options,
): Promise<Report> {
  const phases: Phase[] = [];
  const callsSoFar = (): number => client.figures.values().reduce((sum, { latencies }) => sum + latencies.length, 0);
  const phase = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const started = performance.now();
    const before = callsSoFar();
    const result = await work();
    phases.push({ name, ms: performance.now() - started, calls: callsSoFar() - before });
    return result;
  };
  const shown = async <Result>(
    name: string,
    total: number,
    work: (bar: Progress) => Promise<Result>,
  ): Promise<Result> => {
    const bar = new Progress(name, total);
    return await phase(name, () => work(bar).finally(() => bar.end()));
  };

  const tracker = await readTracker(source, options.limit);
  const people = cast(tracker, options.limit === Number.POSITIVE_INFINITY);
  const statuses = tracker.tickets.map((ticket) => ticket.status);
  const derived = deriveWorkflow(TYPE, tracker.wholeHistory, statuses, codeOf);
  const journal = new Journal(path.join(folder, 'progress.ndjson'));
  const resumed = journal.begun;
  if (resumed) say(`Going on: ${journal.created.size} tickets were created before, ${journal.replayed.size} are done.`);
  try {
    const office = await phase('configure', async () => {
      say(`Applying the bundle with ${people.byHandle.size} people …`);
      const bundle = await writeBundle(folder, people, derived.workflow);
      return await configure(service, client, journal, bundle, process.env.DOCKET_KEY);
    });
    const ids = await userIds(client, office.admin, people);
    const fields = fieldsOf(await fieldSpecs(), ids);
    const plans = tracker.tickets.map((ticket) => {
      const plan = planTicket(ticket, tracker.history.get(ticket.id) ?? [], fields);
      return planLife(plan, tracker.comments.get(ticket.id) ?? [], tracker.attachments.get(ticket.id) ?? []);
    });
    const data = summarise(tracker, plans, derived);
    const keys = await shown('keys', people.acting.size, (bar) =>
      issueKeys(client, journal, office, people, options.workers, bar),
    );
    const replay = new Replay(client, journal, keys, office.reader);
    await shown('replay', data.tickets + plans.reduce((sum, { steps }) => sum + steps.length, 0), (bar) =>
      replay.run(plans, options.workers, bar),
    );
    const definition = await duplicateDefinition(client, office.reader);
    await shown('link', tracker.relations.length, (bar) =>
      replay.relate(tracker.relations, definition, options.workers, bar),
    );
    const context = { client, journal, reader: office.reader, userIds: ids, ...linksOf(tracker.relations) };
    const verdict = await shown('read back', data.tickets, (bar) => verify(context, plans, options.workers, bar));
    return makeReport({
      resumed,
      workers: options.workers,
      people,
      data,
      replay: replay.counts,
      phases,
      figures: client.figures,
      verdict,
      refusals: replay.refusals,
      userRows: tracker.users.length,
    });
  } finally {
    journal.close();
  }
}

async function run(options: Options, source: string, stop: AbortSignal): Promise<boolean> {
  const folder = path.resolve(options.data ?? (await mkdtemp(path.join(tmpdir(), 'docket-jquery-'))));
  await mkdir(folder, { recursive: true });
  const url = process.env.DOCKET_URL;
  say(`Working in ${folder}; --data ${folder} goes on there should this run be stopped.`);
  const service = url === undefined ? await startService(folder) : undefined;
  const client = new Client(service?.url ?? (url ?? '').replace(/\/+$/, ''), stop);
  let done = false;
  try {
    const report = await replayTracker(service, client, folder, source, options);
    const file = path.join(folder, 'report.json');
    await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
    process.stdout.write(`${reportLines(report).join('\n')}\nReport: ${file}\n`);
    done = true;
    return report.equal;
  } finally {
    if (service !== undefined && options.keep) say(`The service goes on at ${service.url}; its log is in ${folder}.`);
    else await service?.stop();
    // A temporary folder is removed; only the report remains.
    if (done && service !== undefined && !options.keep && options.data === undefined) {
      for (const name of ['service', 'service.log', 'bundle', 'progress.ndjson']) {
        await rm(path.join(folder, name), { recursive: true, force: true });
      }
    }
  }
}

async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const options = readOptions(process.argv.slice(2));
  const source = dataFolder(process.env.DOCKET_EXAMPLE_DATA);
  if (source === undefined) {
    process.stdout.write(
      'The data set trac-jquery is not here (DOCKET_EXAMPLE_DATA, or ../shared/data), so there is nothing to replay.\n',
    );
    return 0;
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  }
  return (await run(options, source, stop.signal)) ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  say(error instanceof UsageError ? `${message}\n${USAGE}` : message);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

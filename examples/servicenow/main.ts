/** Replays the incidents of a real ServiceNow instance under SLA policies, on a clock that runs through their times; README.md. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { dataFolder, readEvents } from './data.ts';
import { planIncidents, scheduleOf } from './plan.ts';
import { Replay } from './replay.ts';
import { makeReport, readLives, reportLines } from './report.ts';
import { startService } from './service.ts';
import {
  awaitCounts,
  expectedCounts,
  startReceiver,
  subscribe,
  SUBSCRIPTIONS,
  type Receiver,
} from './subscriptions.ts';

const USAGE = `usage: npm run example:servicenow -- [--limit N]
  --limit N  the first N incidents alone`;

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Reports progress every few seconds. */
function progress(name: string, total: number): (done: number) => void {
  let said = performance.now();
  return (done) => {
    if (done < total && performance.now() - said < 5000) return;
    said = performance.now();
    say(`${name}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')}`);
  };
}

async function run(source: string, limit: number): Promise<boolean> {
  const incidents = planIncidents(await readEvents(source), limit);
  const moments = scheduleOf(incidents);
  const [first] = moments;
  if (first === undefined) throw new Error('the data has no incidents');
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-servicenow-'));
  // The database's own user must be able to pass through, where root runs it as another.
  await chmod(folder, 0o711);
  const receiver = await startReceiver();
  const service = await startService(folder, first.at, receiver.ca);
  receiver.now = () => service.now();
  try {
    say(
      `${incidents.length.toLocaleString('en')} incidents, ${moments.length.toLocaleString('en')} moments of their lives`,
    );
    await subscribe(service, receiver);
    const replay = new Replay(service);
    const began = performance.now();
    await replay.run(moments, progress('moments', moments.length));
    const replayed = performance.now();
    const lives = await readLives(replay, incidents, progress('read back', incidents.length));
    const ms = { replay: replayed - began, read: performance.now() - replayed };
    const report = await makeReport(replay, lives, ms);
    process.stdout.write(`${reportLines(report).join('\n')}\n`);
    const expected = expectedCounts(
      lives.map(({ incident: { priority }, history }) => ({ priority, events: history.map(({ type }) => type) })),
    );
    const sending = performance.now();
    service.deliver();
    const missed = await awaitCounts(receiver, expected);
    process.stdout.write(`${deliveryLines(receiver, performance.now() - sending, missed).join('\n')}\n`);
    return report.notifications.problems.length === 0 && missed.length === 0;
  } finally {
    await service.stop();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function deliveryLines(receiver: Receiver, ms: number, missed: readonly string[]): string[] {
  const rows = SUBSCRIPTIONS.flatMap(({ code }) =>
    [...receiver.counts]
      .filter(([name]) => name.startsWith(`${code} `))
      .map(([name, count]) => `  ${name}: ${count.toLocaleString('en')}`),
  );
  const total = receiver.counts.values().reduce((all, one) => all + one, 0);
  return [
    '',
    `${SUBSCRIPTIONS.length} subscriptions received ${total.toLocaleString('en')} events in ${(ms / 1000).toFixed(0)} s, ${receiver.repeated} of them more than once:`,
    ...rows,
    missed.length === 0 ? 'Every event came, each with a valid signature.' : missed.join('\n'),
  ];
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { limit: { type: 'string' }, help: { type: 'boolean' } } });
  if (values.help === true || (values.limit !== undefined && !/^[1-9][0-9]{0,6}$/.test(values.limit))) {
    process.stderr.write(`${USAGE}\n`);
    return values.help === true ? 0 : 2;
  }
  const source = dataFolder(process.env['DOCKET_EXAMPLE_DATA']);
  if (source === undefined) {
    process.stdout.write(
      'The data set servicenow-incidents is not here (DOCKET_EXAMPLE_DATA, or ../shared/data), so there is nothing to replay.\n',
    );
    return 0;
  }
  return (await run(source, values.limit === undefined ? Number.POSITIVE_INFINITY : Number(values.limit))) ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

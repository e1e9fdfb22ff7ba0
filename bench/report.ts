/** Results as tables for people and as one object for programs. */
import os from 'node:os';
import type { Outcome, Plan, Result } from './rounds.ts';
import { BULK_ITEMS } from './scenario.ts';
import { CROWDED, CROWDS, crowdedName, scenarioOf } from './scenarios.ts';
import type { Environment } from './environment.ts';

export interface Report {
  machine: { processors: number; model: string; memoryGiB: number; node: string; postgresql: string };
  plan: Plan;
  results: Result[];
  environments: {
    records: number;
    firstStartMs: number;
    restartMs: number;
    idleServiceMB: number;
    idleDatabaseMB: number;
    peakServiceMB: number;
  }[];
  /** Scenario → rate with the most records divided by the rate with the fewest; next to it the same for the baseline server. */
  growth: { scenario: string; docket: number; baseline: number }[];
  /** Time of one call that changes 1,000 records by the time of 1,000 calls that change one. */
  bulk: { records: number; share: number }[];
  /** Rate with many connections divided by the rate with those of the plan. */
  crowds: { scenario: string; records: number; docket: number; baseline: number }[];
  disturbed: number;
  repeated: number;
}

function crowdsOf(results: readonly Result[]): Report['crowds'] {
  const names = CROWDED.flatMap((name) =>
    CROWDS.map((connections) => ({ name, crowded: crowdedName(name, connections) })),
  );
  return results.flatMap((many) => {
    const name = names.find(({ crowded }) => crowded === many.scenario)?.name;
    const few = results.find((one) => one.scenario === name && one.records === many.records);
    if (few === undefined) return [];
    const { scenario, records } = many;
    const [docket, baseline] = [many.docket.rate / few.docket.rate, many.baseline.rate / few.baseline.rate];
    return [{ scenario, records, docket, baseline }];
  });
}

/** Duration of one bulk call divided by that of as many single changes over all connections; `update` and `bulk` of one run. */
function bulkShares(results: readonly Result[]): { records: number; share: number }[] {
  return results.flatMap((bulk) => {
    const single = results.find((one) => one.scenario === 'update' && one.records === bulk.records);
    if (bulk.scenario !== 'bulk' || single === undefined) return [];
    return [{ records: bulk.records, share: bulk.docket.p50 / ((BULK_ITEMS * 1000) / single.docket.rate) }];
  });
}

export function makeReport(environments: readonly Environment[], plan: Plan, outcome: Outcome): Report {
  const [fewest, most] = [environments[0], environments.at(-1)];
  const of = (scenario: string, environment: Environment | undefined): Result | undefined =>
    outcome.results.find((result) => result.scenario === scenario && result.records === environment?.records);
  const growth = plan.scenarios.flatMap((scenario) => {
    const [small, large] = [of(scenario, fewest), of(scenario, most)];
    if (small === undefined || large === undefined || small === large) return [];
    return [
      { scenario, docket: large.docket.rate / small.docket.rate, baseline: large.baseline.rate / small.baseline.rate },
    ];
  });
  return {
    machine: {
      processors: os.availableParallelism(),
      model: os.cpus()[0]?.model ?? 'unknown',
      memoryGiB: Math.round(os.totalmem() / 1024 ** 3),
      node: process.version,
      postgresql: environments[0]?.server ?? '',
    },
    plan,
    results: outcome.results,
    environments: environments.map((environment) => ({
      records: environment.records,
      firstStartMs: environment.times.firstStart,
      restartMs: environment.times.restart,
      idleServiceMB: environment.idle.service,
      idleDatabaseMB: environment.idle.database,
      peakServiceMB: outcome.peak.get(environment.records) ?? 0,
    })),
    growth,
    bulk: bulkShares(outcome.results),
    crowds: crowdsOf(outcome.results),
    disturbed: outcome.disturbed,
    repeated: outcome.repeated,
  };
}

/** A Markdown table; all columns but the first are aligned to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const ms = (value: number): string => value.toFixed(1);
const share = (value: number): string => value.toFixed(2);

/** Markdown tables, so that they can go into a document as they are. */
export function printed(report: Report): string {
  const { machine, plan } = report;
  const figures = table(
    [
      'scenario',
      'records',
      'requests/s',
      'p50 ms',
      'p99 ms',
      'baseline requests/s',
      'p50 ms',
      'p99 ms',
      'ratio',
      'min–max of rounds',
    ],
    report.results.map((result) => [
      scenarioOf(result.scenario).says,
      whole(result.records),
      whole(result.docket.rate),
      ms(result.docket.p50),
      ms(result.docket.p99),
      whole(result.baseline.rate),
      ms(result.baseline.p50),
      ms(result.baseline.p99),
      share(result.ratio),
      result.spread.map(share).join('–'),
    ]),
  );
  const spent = table(
    [
      'CPU time per request, µs',
      'records',
      'service',
      'its database',
      'load generator',
      'baseline server',
      'its database',
      'load generator',
    ],
    report.results.map(({ scenario, records, docket, baseline }) => [
      scenarioOf(scenario).says,
      whole(records),
      ...[docket, baseline].flatMap((one) => [one.serverMicros, one.databaseMicros, one.loadMicros].map(whole)),
    ]),
  );
  const growth = table(
    ['growth: rate with the most records divided by rate with the fewest', 'service', 'baseline'],
    report.growth.map((one) => [scenarioOf(one.scenario).says, share(one.docket), share(one.baseline)]),
  );
  const bulk = table(
    [`${BULK_ITEMS.toLocaleString('en')} changes in one bulk call divided by as many single calls, time`, 'records'],
    report.bulk.map((one) => [share(one.share), whole(one.records)]),
  );
  const crowds = table(
    [`rate divided by that at ${plan.connections} connections`, 'records', 'service', 'baseline'],
    report.crowds.map((one) => [
      scenarioOf(one.scenario).says,
      whole(one.records),
      ...[one.docket, one.baseline].map(share),
    ]),
  );
  const refusals = table(
    ['refused for each success', 'records', 'status', 'service', 'baseline'],
    report.results.flatMap(({ scenario, records, docket, baseline }) =>
      (scenarioOf(scenario).tolerated ?? []).map((status) => [
        scenarioOf(scenario).says,
        whole(records),
        String(status),
        ...[docket, baseline].map((one) => share(one.refused[status] ?? 0)),
      ]),
    ),
  );
  const states = table(
    ['records', 'first start ms', 'restart ms', 'idle service MB', 'idle database MB', 'service under load, peak MB'],
    report.environments.map((environment) =>
      [
        environment.records,
        environment.firstStartMs,
        environment.restartMs,
        environment.idleServiceMB,
        environment.idleDatabaseMB,
        environment.peakServiceMB,
      ].map(whole),
    ),
  );
  return [
    `${machine.processors} × ${machine.model}, ${machine.memoryGiB} GiB, Node ${machine.node}, PostgreSQL ${machine.postgresql}; ` +
      `closed loop, ${plan.connections} connections, ${plan.rounds} rounds of ${plan.seconds} s, medians; ` +
      `other processes used at most ${share(report.disturbed)} of one CPU, ${report.repeated} runs repeated`,
    figures,
    spent,
    ...(report.growth.length > 0 ? [growth] : []),
    ...(report.bulk.length > 0 ? [bulk] : []),
    ...(report.crowds.length > 0 ? [crowds] : []),
    refusals,
    states,
  ].join('\n\n');
}

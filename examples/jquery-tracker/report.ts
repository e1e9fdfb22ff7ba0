/** What a run did and found, as data for the file and as lines for a person. */
import type { Figures } from './client.ts';
import type { Cast } from './configure.ts';
import type { Refusal, ReplayCounts } from './replay.ts';
import { type Counts, type SourceSummary, sum } from './source-summary.ts';
import type { Verdict } from './verify.ts';

export interface CallMetrics {
  calls: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** Tries that were repeated, by reason. */
  repeats: Counts;
}

function callFigures(figures: ReadonlyMap<string, Figures>): Record<string, CallMetrics> {
  return Object.fromEntries(
    [...figures].map(([name, { latencies, repeats }]) => {
      const sorted = latencies.toSorted((a, b) => a - b);
      const at = (share: number): number => round(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0);
      const row = { calls: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
      return [name, { ...row, repeats: Object.fromEntries(repeats) }];
    }),
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** A part of the run. */
export interface Phase {
  name: string;
  ms: number;
  calls: number;
}

export interface Report {
  equal: boolean;
  resumed: boolean;
  workers: number;
  people: {
    users: number;
    acting: number;
    alikeButForCase: { handle: string; login: string }[];
    reshapedToBeLogins: { handle: string; login: string }[];
    namedOnlyInTickets: string[];
  };
  data: SourceSummary;
  replay: ReplayCounts;
  phases: (Phase & { callsPerSecond: number })[];
  calls: Record<string, CallMetrics>;
  verification: Omit<Verdict, 'deviations'>;
  /** What the service cannot store, or only under another name. */
  notRepresented: string[];
  refusals: Refusal[];
  deviations: Verdict['deviations'];
}

export interface Findings {
  resumed: boolean;
  workers: number;
  people: Cast;
  data: SourceSummary;
  replay: ReplayCounts;
  phases: Phase[];
  figures: ReadonlyMap<string, Figures>;
  verdict: Verdict;
  refusals: Refusal[];
  userRows: number;
}

export function makeReport(found: Findings): Report {
  const { deviations, ...verification } = found.verdict;
  const { people, data } = found;
  return {
    equal: deviations.length === 0 && found.refusals.length === 0,
    resumed: found.resumed,
    workers: found.workers,
    people: {
      users: people.byHandle.size,
      acting: people.acting.size,
      alikeButForCase: people.alike,
      reshapedToBeLogins: people.reshaped,
      namedOnlyInTickets: people.unlisted,
    },
    data,
    replay: found.replay,
    phases: found.phases.map((phase) => ({ ...phase, callsPerSecond: round((phase.calls * 1_000) / phase.ms) })),
    calls: callFigures(found.figures),
    verification,
    notRepresented: [
      ...data.problems.map(({ ticket, field, what }) => `${ticket} ${field}: ${what}`),
      `users.csv, ${found.userRows} rows: first_seen, last_seen, reported, comments, changes (a user has no such fields)`,
      `${count(data.attachmentsWithDescription)} descriptions of attachments (an attachment has a name alone)`,
      'the instants of comments, attachments and links (the service stamps its own)',
      'the instants at which the service itself stamps records and events: the original ones are the fields openedAt, closedAt, modifiedAt and changedAt',
      'the column id under its own name, which the service keeps for itself: it is the field trackerId',
    ],
    refusals: found.refusals,
    deviations,
  };
}

const SHOWN = 20;

/** The report for a person. */
export function reportLines(report: Report): string[] {
  const { data, people, replay, verification } = report;
  const { around: fixture } = verification;
  return [
    `Tickets      ${count(data.tickets)}: ${count(replay.created)} created, ${count(replay.replayedCreates)} answered by idempotency key`,
    `History      ${count(data.historyRows)} field changes in ${count(data.changes)} calls: one per ticket, author and instant, and ${count(data.extraChangesForRepeatedFields)} more where a field changed again in that instant`,
    `             ${count(replay.patches)} PATCHes and ${count(replay.transitions)} transitions sent by this run (${count(replay.rows)} changes), ${count(replay.skippedChanges)} done by a run before`,
    ...aroundLines(report),
    `People       ${count(people.users)} users, ${count(people.acting)} of them with a key; ${count(people.namedOnlyInTickets.length)} are named in tickets alone`,
    `Logins       ${count(people.alikeButForCase.length)} equal another but for case and got a suffix: ${some(people.alikeButForCase.map(({ handle, login }) => `${handle} is ${login}`))}`,
    `             ${count(people.reshapedToBeLogins.length)} cannot be logins as they are${people.reshapedToBeLogins.length === 0 ? '' : `: ${some(people.reshapedToBeLogins.map(({ handle, login }) => `${handle} is ${login}`))}`}`,
    `Breaks       ${total(data.breaks)} changes whose old value did not stand (the new one won): ${byName(data.breaks)}`,
    `Differences  ${total(data.differencesFromTickets)} from tickets.csv after the replay: ${byName(data.differencesFromTickets)}`,
    `No column    ${total(data.rowsOfHistoryOnlyFields)} changes of fields that tickets.csv lacks, kept as fields: ${byName(data.rowsOfHistoryOnlyFields)}`,
    'Not represented',
    ...report.notRepresented.slice(0, SHOWN).map((line) => `             ${line}`),
    ...more(report.notRepresented),
    '',
    ...phaseTable(report),
    '',
    ...callTable(report),
    '',
    `Read back    ${count(verification.records)} records with ${count(verification.events)} history events, ${count(verification.listed)} in the list`,
    `             ${count(fixture.comments)} of ${count(data.comments)} comments; ${count(fixture.files)} of ${count(data.attachments - data.leftOutFiles.length)} files with ${count(fixture.fileBytes)} bytes; relations: ${count(fixture.outgoing)} outgoing and ${count(fixture.incoming)} incoming of ${count(data.relations)}`,
    `             workflow states: ${byName(fixture.states)}; in tickets.csv: ${byName(data.finalStatuses)}`,
    report.equal
      ? '             every value, event, actor and revision is as planned'
      : `             ${count(report.deviations.length)} deviations and ${count(report.refusals.length)} refused calls`,
    ...report.refusals.slice(0, SHOWN).map((refusal) => `             ${JSON.stringify(refusal)}`),
    ...report.deviations.slice(0, SHOWN).map((deviation) => `             ${JSON.stringify(deviation).slice(0, 500)}`),
  ];
}

function aroundLines({ data, replay }: Report): string[] {
  const empty = data.leftOutFiles.filter((file) => file.why === 'empty');
  const large = data.leftOutFiles.filter((file) => file.why === 'too large');
  return [
    `Workflow     ${data.states} states and ${data.transitionsOfWorkflow} transitions derived; of ${count(data.statusRows)} status changes ${count(data.transitions)} are transitions (${count(data.transitionsWithResolution)} with the resolution; ${count(data.resolutionRows)} resolution changes in all), ${count(data.statusStays)} name the status that stands`,
    `             ${data.unnamedTransitions.length} of the transitions named by no row, and taken where a row's old value did not stand: ${data.unnamedTransitions.join(', ')}`,
    `Comments     ${count(data.comments)}, all public and as written: ${count(replay.comments)} sent by this run`,
    `Attachments  ${count(data.attachments)}: ${count(replay.files)} sent by this run (${count(replay.fileBytes)} bytes); ${count(empty.length)} of size 0 and ${count(large.length)} too large are not uploaded`,
    ...data.leftOutFiles.slice(0, SHOWN).map((file) => `             ${file.ticket} ${file.filename}: ${file.why}`),
    `Relations    ${count(data.relations)} duplicates: ${count(replay.relations)} linked by this run, ${count(replay.relationsThereAlready)} were there already`,
    `             ${count(replay.replayedAround)} comments, attachments and relations answered by idempotency key or done by a run before`,
  ];
}

function phaseTable(report: Report): string[] {
  return [
    row(['phase', 'seconds', 'calls', 'calls/s']),
    ...report.phases.map(({ name, ms, calls, callsPerSecond }) =>
      row([name, (ms / 1_000).toFixed(1), count(calls), calls === 0 ? '' : callsPerSecond.toFixed(0)]),
    ),
  ];
}

function callTable(report: Report): string[] {
  return [
    row(['call', 'calls', 'p50 ms', 'p99 ms', 'max ms', 'repeated']),
    ...Object.entries(report.calls).map(([name, { calls, p50Ms, p99Ms, maxMs, repeats }]) =>
      row([name, count(calls), p50Ms.toFixed(1), p99Ms.toFixed(1), maxMs.toFixed(1), byName(repeats)]),
    ),
  ];
}

function row(cells: string[]): string {
  return cells.map((cell, index) => (index === 0 ? cell.padEnd(14) : cell.padStart(10))).join(' ');
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

function total(counts: Counts): string {
  return count(sum(Object.values(counts)));
}

function byName(counts: Counts): string {
  return Object.entries(counts)
    .map(([name, value]) => `${name} ${count(value)}`)
    .join(', ');
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ');
  return names.length > 3 ? `${shown}, …` : shown;
}

function more(lines: readonly string[]): string[] {
  return lines.length > SHOWN ? [`             … and ${lines.length - SHOWN} more in the file`] : [];
}

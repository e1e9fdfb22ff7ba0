/** The result: met and breached SLAs by priority compared with the data, and whether each notification was sent in time. */
import type { Incident, Priority } from './plan.ts';
import type { Instance, Replay } from './replay.ts';

const PRIORITIES: readonly Priority[] = ['p1', 'p2', 'p3', 'p4'];
const POLICIES = ['resolution', 'response'] as const;
const AT_ONCE = 16;

interface HistoryEvent {
  type: string;
  at: string;
  changes: { field: string; from: unknown; to: unknown }[];
  data: { slaInstanceId?: string; policyCode?: string; percent?: number; by?: string };
}

interface Notifications {
  /** Sent breach and warning notifications. */
  breaches: number;
  warnings: number;
  /** Deviations from the expectation. */
  problems: string[];
}

export interface Line {
  priority: Priority | 'all';
  incidents: number;
  resolution: { met: number; breached: number };
  response: { met: number; breached: number };
  data: { met: number; breached: number };
  /** Resolution as reckoned here, and `made_sla` of the data. */
  alike: number;
}

export interface Report {
  lines: Line[];
  instances: number;
  restarted: number;
  notifications: Notifications;
  timeline: string[];
  ms: { replay: number; read: number };
  calls: number;
}

interface Life {
  incident: Incident;
  instances: Instance[];
  history: HistoryEvent[];
}

/** Every record's instances and history. */
export async function readLives(
  replay: Replay,
  incidents: readonly Incident[],
  progress: (done: number) => void,
): Promise<Life[]> {
  const lives: Life[] = [];
  let done = 0;
  const waiting = [...incidents.entries()].reverse();
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [index, incident] = next;
      const instances = await replay.sla(incident);
      const history = (await replay.ask('GET', `/objects/${replay.idOf(incident)}/history`)) as HistoryEvent[];
      lives[index] = { incident, instances, history };
      progress(++done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return lives;
}

function lineOf(priority: Line['priority'], lives: readonly Life[]): Line {
  const own = lives.filter(({ incident }) => priority === 'all' || incident.priority === priority);
  const breached = ({ instances }: Life, policy: string): boolean =>
    instances.some((instance) => instance.policyCode === policy && instance.breached);
  const split = (is: (life: Life) => boolean): { met: number; breached: number } => {
    const count = own.filter(is).length;
    return { met: own.length - count, breached: count };
  };
  const [resolution, response] = POLICIES.map((policy) => split((life) => breached(life, policy)));
  return {
    priority,
    incidents: own.length,
    resolution: resolution as Line['resolution'],
    response: response as Line['response'],
    data: split(({ incident }) => !incident.madeSla),
    alike: own.filter((life) => breached(life, 'resolution') === !life.incident.madeSla).length,
  };
}

/** Each breach notified once at its exact time; no notification without a breach. */
function checkNotifications(lives: readonly Life[]): Notifications {
  const notifications: Notifications = { breaches: 0, warnings: 0, problems: [] };
  for (const { incident, instances, history } of lives) {
    for (const instance of instances) {
      const own = history.filter((event) => event.data.slaInstanceId === instance.id);
      const breaches = own.filter((event) => event.type === 'SlaBreached');
      notifications.breaches += breaches.length;
      notifications.warnings += own.filter((event) => event.type === 'SlaWarning').length;
      const problem = (what: string): unknown =>
        notifications.problems.push(`${incident.number} ${instance.policyCode}: ${what}`);
      if (instance.status !== 'STOPPED') problem(`is ${instance.status} though the incident was closed`);
      // Another target may undo a breach, or make one of what had passed already.
      if (own.some((event) => event.type === 'SlaRecalculated')) continue;
      if (breaches.length !== (instance.breached ? 1 : 0)) problem(`${breaches.length} breach events`);
      else if (instance.breached && breaches[0]?.at !== instance.breachedAt) {
        problem(`breach event at ${breaches[0]?.at}, and breached at ${instance.breachedAt}`);
      }
    }
  }
  return notifications;
}

function hours(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
}

const short = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)}`;

/** The timeline of the incident with the most events, and where its resolution time was spent. */
async function timelineOf(replay: Replay, lives: readonly Life[]): Promise<string[]> {
  const kinds = ({ history }: Life): number => new Set(history.map((event) => event.type)).size;
  const eventful = lives
    .filter(({ history }) => history.length < 24)
    .sort((a, b) => kinds(b) - kinds(a) || b.history.length - a.history.length)[0];
  if (eventful === undefined) return [];
  const { incident, instances, history } = eventful;
  const lines = [`${incident.number}, ${incident.priority}, made_sla ${incident.madeSla} in the data`];
  for (const { type, at, changes, data } of history) {
    const about = changes
      .filter(({ field }) => field === 'workflowState' || (field === 'priority' && type !== 'ObjectCreated'))
      .map(({ field, from, to }) => `${field} ${String(from)} → ${String(to)}`);
    const more = [data.policyCode, data.percent === undefined ? undefined : `${data.percent} %`, ...about].filter(
      Boolean,
    );
    lines.push(`  ${short(at)}  ${type.padEnd(18)} ${more.join(', ')}`);
  }
  for (const instance of instances.filter((one) => one.policyCode === 'resolution')) {
    const explanation = await replay.ask('GET', `/sla/${instance.id}/explanation`, undefined, true);
    const verdict = instance.breached ? 'breached' : 'met';
    lines.push(
      `  resolution since ${short(instance.startedAt)}: ${hours(explanation.elapsedMs)} of ${hours(instance.targetMs)} h, ${verdict}`,
    );
    let sum = 0;
    for (const { from, to, ms, counted, reason, name, pausedBy } of explanation.intervals) {
      if (counted) sum += ms;
      const why = [reason, name, pausedBy?.by].filter(Boolean).join(', ');
      lines.push(`    ${short(from)} – ${short(to)}  ${counted ? hours(ms).padStart(7) : '      –'}  ${why}`);
    }
    if (sum !== explanation.elapsedMs) throw new Error(`the intervals sum to ${sum}, not to ${explanation.elapsedMs}`);
  }
  return lines;
}

export async function makeReport(replay: Replay, lives: readonly Life[], ms: Report['ms']): Promise<Report> {
  const all = lives.flatMap(({ instances }) => instances);
  return {
    lines: [...PRIORITIES, 'all' as const].map((priority) => lineOf(priority, lives)),
    instances: all.length,
    restarted: lives.filter(({ instances }) => instances.filter((one) => one.policyCode === 'resolution').length > 1)
      .length,
    notifications: checkNotifications(lives),
    timeline: await timelineOf(replay, lives),
    ms,
    calls: replay.calls,
  };
}

export function reportLines({ lines, instances, restarted, notifications, timeline, ms, calls }: Report): string[] {
  const head = [
    'priority',
    'incidents',
    'resolution met',
    'breached',
    'response met',
    'breached',
    'made_sla true',
    'false',
    'equal',
  ];
  const rows = lines.map((line) => [
    line.priority,
    ...[
      line.incidents,
      line.resolution.met,
      line.resolution.breached,
      line.response.met,
      line.response.breached,
      line.data.met,
      line.data.breached,
    ].map((count) => count.toLocaleString('en')),
    line.incidents === 0 ? '' : `${Math.round((100 * line.alike) / line.incidents)} %`,
  ]);
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)));
  const text = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return [
    text(head),
    ...rows.map(text),
    '',
    `${instances.toLocaleString('en')} SLA instances; ${restarted.toLocaleString('en')} incidents were reopened and got new instances.`,
    `${notifications.warnings.toLocaleString('en')} warnings and ${notifications.breaches.toLocaleString('en')} breaches were sent, each at its due time; problems: ${notifications.problems.length}.`,
    ...notifications.problems.slice(0, 10).map((problem) => `  ${problem}`),
    `${calls.toLocaleString('en')} calls: replay ${(ms.replay / 1000).toFixed(0)} s, reading back ${(ms.read / 1000).toFixed(0)} s.`,
    '',
    ...timeline,
  ];
}

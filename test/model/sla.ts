/** SLA time of the model: the policy `answer` counts all time, so elapsed time is the time outside of pauses. */
import type { Pause, RecordState, SlaInstance } from './state.ts';
import { SLA_TARGET_MS } from './world.ts';

const STARTS = new Set(['new', 'work']);

/** The record with what the policy starts on its creation. */
export function startPolicies(record: RecordState, now: number): RecordState {
  return { ...record, sla: [{ startedAt: now, stoppedAt: null, pauses: [], ignoresPause: false }] };
}

function isPaused({ pauses }: SlaInstance): boolean {
  return pauses.at(-1)?.to === null;
}

function begin(instance: SlaInstance, by: Pause['by'], now: number): SlaInstance {
  return { ...instance, pauses: [...instance.pauses, { from: now, to: null, by }] };
}

function end(instance: SlaInstance, now: number): SlaInstance {
  const last = instance.pauses.at(-1) as Pause;
  return { ...instance, pauses: [...instance.pauses.slice(0, -1), { ...last, to: now }] };
}

/** The record with its instances after a change of state or archiving. */
export function followPolicies(record: RecordState, now: number): RecordState {
  if (record.type !== 'ticket') return record;
  const pauses = record.workflow === 'wait';
  const starts = STARTS.has(record.workflow ?? '');
  const ignoresStart = record.ignoresStart && starts;
  let sla = record.sla.map((instance): SlaInstance => {
    if (instance.stoppedAt !== null) return instance;
    let next: SlaInstance = { ...instance, ignoresPause: instance.ignoresPause && pauses };
    const by = isPaused(next) ? next.pauses.at(-1)?.by : undefined;
    if (record.archived) return by === undefined ? begin(next, 'archive', now) : next;
    if (by === 'archive') next = end(next, now);
    if (record.workflow === 'done') return { ...(isPaused(next) ? end(next, now) : next), stoppedAt: now };
    if (!isPaused(next) && pauses && !next.ignoresPause) return begin(next, 'policy', now);
    if (by === 'policy' && !pauses) return end(next, now);
    return next;
  });
  if (!record.archived && starts && !ignoresStart && sla.every(({ stoppedAt }) => stoppedAt !== null))
    sla = [...sla, { startedAt: now, stoppedAt: null, pauses: [], ignoresPause: false }];
  return { ...record, sla, ignoresStart };
}

export type SlaCommand = 'pause' | 'resume' | 'stop';

/** The record after a command on its last instance; undefined if the status does not allow it. */
export function commandPolicies(record: RecordState, command: SlaCommand, now: number): RecordState | undefined {
  const last = record.sla.at(-1);
  if (last === undefined || last.stoppedAt !== null) return undefined;
  const paused = isPaused(last);
  if ((command === 'pause' && paused) || (command === 'resume' && !paused)) return undefined;
  const others = record.sla.slice(0, -1);
  if (command === 'pause') return { ...record, sla: [...others, begin(last, 'manual', now)] };
  if (command === 'resume')
    return { ...record, sla: [...others, { ...end(last, now), ignoresPause: record.workflow === 'wait' }] };
  const stopped = { ...(paused ? end(last, now) : last), stoppedAt: now };
  return { ...record, sla: [...others, stopped], ignoresStart: STARTS.has(record.workflow ?? '') };
}

export interface SlaAnswer {
  status: 'ACTIVE' | 'PAUSED' | 'STOPPED';
  startedAt: string;
  elapsedMs: number;
  breached: boolean;
}

export function slaAnswer(instance: SlaInstance, now: number): SlaAnswer {
  const until = instance.stoppedAt ?? now;
  const paused = instance.pauses.reduce((sum, { from, to }) => sum + (to ?? until) - from, 0);
  const elapsedMs = until - instance.startedAt - paused;
  const running = isPaused(instance) ? 'PAUSED' : 'ACTIVE';
  return {
    status: instance.stoppedAt === null ? running : 'STOPPED',
    startedAt: new Date(instance.startedAt).toISOString(),
    elapsedMs,
    breached: elapsedMs >= SLA_TARGET_MS,
  };
}

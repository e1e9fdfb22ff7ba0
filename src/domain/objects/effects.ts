/** What a dry run would have done to records, as far as the caller may see it (docs/how-to/let-a-script-change-things.md). */
import { cutEffects, type EffectLists, type Effects } from '../../contract/effects.ts';
import { scopeOf } from '../../contract/events.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { List, type Service } from '../../platform/module.ts';
import type { EffectsOf } from '../../platform/unit-of-work/binding.ts';
import type { Tried, TriedEvent } from '../../platform/unit-of-work/work.ts';
import { findVisible, preload } from './load.ts';
import { type EventFilter, eventAnswers, historyFilters } from './history.ts';
import type { VisibleObject } from './record.ts';
import type { HistoryRow } from './store-history.ts';

const SLA_CHANGES: ReadonlyMap<string, Effects['sla'][number]['change']> = new Map([
  ['SlaStarted', 'STARTED'],
  ['SlaPaused', 'PAUSED'],
  ['SlaResumed', 'RESUMED'],
  ['SlaStopped', 'STOPPED'],
  ['SlaRecalculated', 'RETARGETED'],
]);

function historyRow({ id, at, via, actor, event }: TriedEvent): HistoryRow {
  const { type, revision = null, changes = null } = event;
  const data = (event.data ?? null) as HistoryRow['data'];
  return { id, type, at, actorId: actor.userId, actorName: actor.displayName, via, revision, changes, data };
}

/** An event with its record; undefined for events about something else. */
export interface EventOnRecord {
  type: string;
  record: VisibleObject | undefined;
  stored: TriedEvent['event']['stored'];
}

/**
 * The events of records as their history would show them, the changes of SLA instances, and all events that are not about
 * records which the caller may not read.
 *
 * @param scopes of the key; null if no scopes are needed. Events need those of the changes feed, SLA changes `sla:read`
 */
async function recordEffects(
  ctx: ReadContext,
  tried: readonly TriedEvent[],
  filters: readonly EventFilter[],
  scopes: ReadonlySet<string> | null,
): Promise<Pick<Effects, 'events' | 'sla'> & { visible: EventOnRecord[] }> {
  const mayRead = (scope: Scope | undefined): boolean => scope === undefined || scopes === null || scopes.has(scope);
  const byRecord = Map.groupBy(tried, ({ event }) => event.objectId);
  const ids = [...byRecord.keys()].filter((id) => id !== undefined);
  await preload(ctx, ids);
  const records = new Map<string, VisibleObject>();
  const shown = new Map<string, Effects['events'][number]>();
  for (const id of ids) {
    const record = await findVisible(ctx, id);
    if (record === undefined) continue;
    records.set(id, record);
    if (!record.right.can('history') || !mayRead('objects:read')) continue;
    const rows = (byRecord.get(id) ?? []).filter(({ event }) => mayRead(scopeOf(event.type))).map(historyRow);
    for (const answer of await eventAnswers(ctx, record, rows, filters)) {
      shown.set(answer.id, { ...answer, objectId: id });
    }
  }
  const onVisible = tried.filter(({ event }) => event.objectId === undefined || records.has(event.objectId));
  const sla = (mayRead('sla:read') ? onVisible : []).flatMap(({ event }) => {
    const change = SLA_CHANGES.get(event.type);
    if (change === undefined || event.objectId === undefined) return [];
    const { policyCode = '', dueAt = null } = event.data as { policyCode?: string; dueAt?: string | null };
    return { objectId: event.objectId, policyCode, change, dueAt };
  });
  return {
    events: tried.flatMap(({ id }) => shown.get(id) ?? []),
    sla,
    visible: onVisible.map(({ event: { type, objectId = '', stored } }) => ({
      type,
      record: records.get(objectId),
      stored,
    })),
  };
}

/**
 * One part of the effects of a dry run.
 *
 * @param seen the events that the caller may see, and the scopes of the key
 */
export type EffectSource = (
  ctx: ReadContext,
  tried: Tried,
  seen: { visible: readonly EventOnRecord[]; scopes: ReadonlySet<string> | null },
  service: Service,
) => Partial<EffectLists> | Promise<Partial<EffectLists>>;

export const effectSources = new List<EffectSource>('effects of dry runs');

/** The effects of dry runs: those on records, and those that other modules add. */
export function effectsBy(service: Service): EffectsOf {
  const filters = historyFilters.of(service.modules);
  const sources = effectSources.of(service.modules);
  return async (ctx, tried, scopes) => {
    const { visible, ...records } = await recordEffects(ctx, tried.events, filters, scopes);
    const effects: EffectLists = { ...records, webhooks: [], rules: [], notifications: [] };
    for (const source of sources) Object.assign(effects, await source(ctx, tried, { visible, scopes }, service));
    return cutEffects(effects);
  };
}

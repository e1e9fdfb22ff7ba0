/**
 * Updates SLA instances when a record changes, in the same unit of work. This covers all changes: API calls, bulk operations,
 * imports, inbound calls, catalogue requests, migrations.
 *
 * A create needs no query. Any other change needs one, and only if the type has policies whose conditions use what changed.
 */
import type { EventType } from '../../contract/events.ts';
import type { Follower, PlannedEvent, WriteContext } from '../../platform/unit-of-work/context.ts';
import { variables } from '../metadata/index.ts';
import { recordOf, type RecordView } from '../objects/index.ts';
import { calendarOf, type Policy, slaRegistry } from './registry.ts';
import { planDraft, plannedInstance, settingFor, targetUnder } from './effective-policy.ts';
import { type ConditionResults, evaluateConditions } from './rules.ts';
import { begin, draftOf, follow, rearm, type Setting, restarts } from './rules-transitions.ts';
import { listLatest, type StoredInstance } from './store.ts';

/** Events that start or end an archiving. They affect every policy. */
const ARCHIVE_EVENTS = new Set<EventType>(['ObjectArchived', 'ObjectRestored']);

interface Changed {
  view: RecordView;
  policies: readonly Policy[];
  created: boolean;
}

function isAffected(policy: Policy, events: readonly PlannedEvent[]): boolean {
  const { every, fields } = policy.inputs;
  return events.some(
    ({ type, changes }) =>
      every || ARCHIVE_EVENTS.has(type) || Object.keys(changes ?? {}).some((code) => fields.has(code)),
  );
}

/** The changed records, with the policies whose conditions the changes can affect. */
async function changedRecords(ctx: WriteContext, events: readonly PlannedEvent[]): Promise<Changed[]> {
  const { ofType } = slaRegistry(ctx);
  if (ofType.size === 0) return [];
  const byRecord = new Map<string, PlannedEvent[]>();
  for (const event of events) {
    // Only events with a revision change the record itself.
    if (event.objectId === undefined || event.revision === undefined) continue;
    const list = byRecord.get(event.objectId);
    if (list === undefined) byRecord.set(event.objectId, [event]);
    else list.push(event);
  }
  const changed: Changed[] = [];
  for (const [id, own] of byRecord) {
    const view = await recordOf(ctx, id);
    const policies = view === undefined ? undefined : ofType.get(view.type.id);
    if (view === undefined || policies === undefined) continue;
    const created = own.some(({ type }) => type === 'ObjectCreated');
    const concerned = created ? policies : policies.filter((policy) => isAffected(policy, own));
    if (concerned.length > 0) changed.push({ view, policies: concerned, created });
  }
  return changed;
}

function start(ctx: WriteContext, policy: Policy, view: RecordView, results: ConditionResults): void {
  const targetMs = targetUnder(ctx, policy, view.facts);
  if (targetMs === undefined) return;
  const calendar = calendarOf(slaRegistry(ctx), policy);
  const setting: Setting = { now: ctx.now, actorId: ctx.actor.userId, policy, calendar, targetMs };
  planDraft(ctx, begin(ctx.newId(), view.row.id, results, setting), setting);
}

function followOne(ctx: WriteContext, policy: Policy, view: RecordView, last: StoredInstance | undefined): void {
  const results = evaluateConditions(policy, view.facts, variables(ctx));
  if (last !== undefined && (last.status !== 'STOPPED' || !restarts(last, results, policy))) {
    const setting = settingFor(ctx, last, view);
    const draft = draftOf(last);
    if (last.status === 'STOPPED') rearm(draft, results);
    else follow(draft, results, setting);
    planDraft(ctx, draft, setting);
  } else if (restarts(last, results, policy)) start(ctx, policy, view, results);
}

export const slaFollower: Follower = {
  name: 'sla',
  emits: true,
  follow: async (ctx, events) => {
    const changed = await changedRecords(ctx, events);
    const older = changed.flatMap(({ view, created }) => (created ? [] : [view.row.id]));
    const stored = older.length === 0 ? [] : await listLatest(ctx, older);
    const latest = new Map(stored.map((instance) => [`${instance.objectId} ${instance.policyId}`, instance]));
    for (const { view, policies } of changed) {
      for (const policy of policies) {
        const planned = plannedInstance(ctx, { objectId: view.row.id, policyId: policy.id });
        followOne(ctx, policy, view, planned ?? latest.get(`${view.row.id} ${policy.id}`));
      }
    }
  },
};

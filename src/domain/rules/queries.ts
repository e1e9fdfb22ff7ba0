/** The log of rules, their part of the effects of dry runs, and what a rule would do with a record. */
import { type RuleEvent } from '../../contract/events.ts';
import type { Effects } from '../../contract/effects.ts';
import { isFieldList } from '../../contract/rule-fields.ts';
import { isActive } from '../../contract/state.ts';
import { Fault } from '../../lib/fault.ts';
import { leavesOf, type TypedCondition } from '../../lib/filter.ts';
import type { EffectsOf, RequestFacts, Runner } from '../../platform/unit-of-work/binding.ts';
import type { ActorOf, Reacted, ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigItem, ConfigSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import {
  type EventFilter,
  findVisible,
  type HistoryRow,
  preload,
  requireVisible,
  visibleIds,
  visibleRecord,
  type VisibleObject,
} from '../objects/index.ts';
import { fireRule } from './reaction.ts';
import { type CompiledRule, type Rule, ruleOf, SINCE_STATE } from './registry.ts';
import { listRunEvents, listRuns as listRows, RUNS_KEPT, type RunRow } from './store.ts';

const RIGHT = 'config.manage';
const SHOWN = 100;
/** As for all dry runs of one call. */
const LIMITS = { lockMs: 1000, totalMs: 10_000 };

/** @throws Fault NOT_FOUND */
function requireRule(config: ConfigSnapshot, code: string): ConfigItem {
  const item = config.items('rules').find((one) => one.code === code && isActive(one));
  if (item === undefined) throw new Fault('NOT_FOUND', `There is no rule ${code}.`);
  return item;
}

type RunAnswer = Omit<RunRow, 'objectId' | 'effects'> & {
  objectId: string | null;
  effects: { kind: string; objectId: string | null }[];
};

/**
 * Whether the caller may know if the rule fired on the record, because that reveals values that its condition names. Callers who
 * may change the rule's user may know, as for the preview.
 */
function mayKnow(ctx: ReadContext, { id, compiled }: ConfigItem, object: VisibleObject): boolean {
  const definition = compiled as CompiledRule;
  if (mayKnowAll(ctx, definition)) return true;
  const rule = ruleOf(id, definition, object.type);
  // Without a user it does not run.
  return rule === undefined || decidingFields(rule, object).every((code) => object.right.canRead(code));
}

function mayKnowAll(ctx: ReadContext, { runAsId }: CompiledRule): boolean {
  return runAsId === ctx.actor.userId || ctx.actor.has('role.assign');
}

/** The fields of the record that decide whether and when the rule fires. */
function decidingFields({ when, after }: Rule, { version }: VisibleObject): string[] {
  const named = when === null ? [] : namedFields(when);
  const codes = named.flatMap((code) => (code === SYSTEM_TITLE ? (version.titleField ?? []) : code));
  if (after !== undefined && after.since !== SINCE_STATE) codes.push(after.since);
  return codes.filter((code) => version.fields.has(code));
}

/** Stands for the title field, whatever its code is; a code has no colon. */
const SYSTEM_TITLE = 'system:title';

/** The fields that the condition names, also those whose change it asks for. */
function namedFields(when: TypedCondition): string[] {
  return [...leavesOf(when)].flatMap((leaf) => {
    if (leaf.field.kind === 'value') return [leaf.field.code];
    if (leaf.field.code === 'title') return [SYSTEM_TITLE];
    if (!isFieldList(leaf.field.code)) return [];
    const operands = leaf.operator === 'in' ? leaf.values : 'value' in leaf ? [leaf.value] : [];
    return operands.flatMap((one) =>
      typeof one === 'object' && 'literal' in one && typeof one.literal === 'string' ? [one.literal] : [],
    );
  });
}

/**
 * The runs of a rule on records that the caller may read, newest first.
 *
 * @param filters select the events that the history hides from a caller
 * @throws Fault RIGHT_MISSING, NOT_FOUND
 */
export async function listRuns(
  ctx: ReadContext,
  { code, limit = SHOWN }: { code: string; limit?: number | undefined },
  filters: readonly EventFilter[],
): Promise<RunAnswer[]> {
  ctx.actor.require(RIGHT);
  const item = requireRule(ctx.config, code);
  const visibleRows = visibleRecord(ctx, 'r.object_id');
  if (visibleRows === null) return [];
  const all = mayKnowAll(ctx, item.compiled as CompiledRule);
  const found = await listRows(ctx, item.id, visibleRows, all ? limit : RUNS_KEPT);
  const rows = (await known(ctx, item, found, all ? [] : filters)).slice(0, limit);
  const created = rows.flatMap(({ effects }) => effects.filter(({ kind }) => kind === 'create').map(({ id }) => id));
  const visible = await visibleIds(ctx, [...new Set([...rows.map(({ objectId }) => objectId), ...created])]);
  const shown = (id: string): string | null => (visible.has(id) ? id : null);
  return rows.map((row) => ({
    ...row,
    objectId: shown(row.objectId),
    effects: row.effects.map(({ kind, id }) => ({ kind, objectId: shown(kind === 'create' ? id : row.objectId) })),
  }));
}

/** Without runs that would tell values of hidden fields, or that a hidden event happened; chains are without such rules. */
async function known(
  ctx: ReadContext,
  item: ConfigItem,
  rows: readonly RunRow[],
  filters: readonly EventFilter[],
): Promise<RunRow[]> {
  await preload(ctx, [...new Set(rows.map(({ objectId }) => objectId))]);
  const events = filters.length === 0 ? new Map<string, HistoryRow[]>() : await listRunEvents(ctx, rows);
  const rules = new Map(ctx.config.items('rules').map((one) => [one.code, one]));
  const shown: RunRow[] = [];
  for (const row of rows) {
    const object = await findVisible(ctx, row.objectId);
    if (object === undefined || !mayKnow(ctx, item, object)) continue;
    if (await isHidden(ctx, object, events.get(row.id) ?? [], filters)) continue;
    const chain = row.chain.filter((code) => {
      const rule = rules.get(code);
      return rule === undefined ? ctx.actor.has('role.assign') : mayKnow(ctx, rule, object);
    });
    shown.push({ ...row, chain });
  }
  return shown;
}

async function isHidden(
  ctx: ReadContext,
  object: VisibleObject,
  events: readonly HistoryRow[],
  filters: readonly EventFilter[],
): Promise<boolean> {
  if (events.length === 0) return false;
  for (const filter of filters) if ((await filter(ctx, object, events)).size > 0) return true;
  return false;
}

/** The rules of which the caller may know that they fired in a dry run. They need `config.manage`. */
export async function ruleEffects(ctx: ReadContext, reactions: readonly Reacted[]): Promise<Effects['rules']> {
  if (reactions.length === 0 || !ctx.actor.has(RIGHT)) return [];
  const items = new Map(ctx.config.items('rules').map((item) => [item.code, item]));
  const shown: Effects['rules'] = [];
  for (const { objectId, code, outcome } of reactions) {
    const object = await findVisible(ctx, objectId);
    const item = items.get(code);
    if (object !== undefined && item !== undefined && mayKnow(ctx, item, object)) shown.push({ code, outcome });
  }
  return shown;
}

/**
 * What the rule would do if the event happened to the record. Everything is undone.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, RULE_REFUSED, RULE_LOOP
 */
export async function tryRule(
  { work, caller }: Runner,
  parts: { actorOf: ActorOf; effectsOf: EffectsOf },
  asked: { code: string; objectId: string; event?: RuleEvent },
  { scopes }: Pick<RequestFacts, 'scopes'>,
): Promise<Effects> {
  caller.actor.require(RIGHT);
  const item = requireRule(caller.config, asked.code);
  const { id, compiled } = item;
  return await work.dryRun(async (units) => {
    await units.write(caller, async (ctx) => {
      const object = await requireVisible(ctx, asked.objectId);
      const { row, type } = object;
      if (!mayKnow(ctx, item, object)) ctx.actor.require('role.assign');
      const definition = compiled as CompiledRule;
      const rule = definition.typeIds.includes(type.id) ? ruleOf(id, definition, type) : undefined;
      const event = asked.event ?? definition.on[0];
      const occurrence = { row, ...(event === undefined ? {} : { event }) };
      const fired = rule !== undefined && (await fireRule(ctx, rule, occurrence, parts.actorOf));
      if (!fired) ctx.noteReaction({ objectId: row.id, code: asked.code, outcome: 'SKIPPED' });
    });
    return await units.read(caller, (ctx) => parts.effectsOf(ctx, units, scopes));
  }, LIMITS);
}

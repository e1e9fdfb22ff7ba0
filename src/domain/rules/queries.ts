/** The log of rules, their part of the effects of dry runs, and what a rule would do with a record. */
import type { Effects } from '../../contract/effects.ts';
import { isFieldList, type RuleEvent } from '../../contract/rule-fields.ts';
import { isActive } from '../../contract/state.ts';
import { Fault } from '../../lib/fault.ts';
import { leavesOf, type TypedCondition } from '../../lib/filter.ts';
import type { EffectsOf, RequestFacts, Runner } from '../../platform/unit-of-work/binding.ts';
import type { Reacted, ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigItem, ConfigSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import {
  findVisible,
  preload,
  requireVisible,
  visibleIds,
  visibleRecord,
  type VisibleObject,
} from '../objects/index.ts';
import { type ActorOf, fireRule } from './reaction.ts';
import { type CompiledRule, ruleOf } from './registry.ts';
import { listRuns as listRows, RUNS_KEPT, type RunRow } from './store.ts';

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
  // Without a condition for the type, or without a user, nothing of the record decides.
  if (rule === undefined || rule.when === null) return true;
  return namedFields(rule.when).every((code) => !object.version.fields.has(code) || object.right.canRead(code));
}

function mayKnowAll(ctx: ReadContext, { runAsId, when, after }: CompiledRule): boolean {
  const names = when !== null || after !== undefined;
  return !names || runAsId === ctx.actor.userId || ctx.actor.has('role.assign');
}

/** The fields that the condition names, also those whose change it asks for. */
function namedFields(when: TypedCondition): string[] {
  return [...leavesOf(when)].flatMap((leaf) => {
    if (leaf.field.kind === 'value') return [leaf.field.code];
    if (!isFieldList(leaf.field.code)) return [];
    const operands = leaf.operator === 'in' ? leaf.values : 'value' in leaf ? [leaf.value] : [];
    return operands.flatMap((one) =>
      typeof one === 'object' && 'literal' in one && typeof one.literal === 'string' ? [one.literal] : [],
    );
  });
}

/** The runs of a rule on records that the caller may read, newest first. @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function listRuns(ctx: ReadContext, code: string, limit = SHOWN): Promise<RunAnswer[]> {
  ctx.actor.require(RIGHT);
  const item = requireRule(ctx.config, code);
  const visibleRows = visibleRecord(ctx, 'r.object_id');
  if (visibleRows === null) return [];
  const all = mayKnowAll(ctx, item.compiled as CompiledRule);
  const found = await listRows(ctx, item.id, visibleRows, all ? limit : RUNS_KEPT);
  const rows = all ? found : (await known(ctx, item, found)).slice(0, limit);
  const created = rows.flatMap(({ effects }) => effects.filter(({ kind }) => kind === 'create').map(({ id }) => id));
  const visible = await visibleIds(ctx, [...new Set([...rows.map(({ objectId }) => objectId), ...created])]);
  const shown = (id: string): string | null => (visible.has(id) ? id : null);
  return rows.map((row) => ({
    ...row,
    objectId: shown(row.objectId),
    effects: row.effects.map(({ kind, id }) => ({ kind, objectId: shown(kind === 'create' ? id : row.objectId) })),
  }));
}

async function known(ctx: ReadContext, item: ConfigItem, rows: readonly RunRow[]): Promise<RunRow[]> {
  await preload(ctx, [...new Set(rows.map(({ objectId }) => objectId))]);
  const shown: RunRow[] = [];
  for (const row of rows) {
    const object = await findVisible(ctx, row.objectId);
    if (object !== undefined && mayKnow(ctx, item, object)) shown.push(row);
  }
  return shown;
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

/** The log of rules, their part of the effects of dry runs, and what a rule would do with a record. */
import type { Effects } from '../../contract/effects.ts';
import type { RuleEvent } from '../../contract/rule-fields.ts';
import { isActive } from '../../contract/state.ts';
import { Fault } from '../../lib/fault.ts';
import type { EffectsOf, RequestFacts, Runner } from '../../platform/unit-of-work/binding.ts';
import type { Reacted, ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigItem, ConfigSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import { requireVisible, visibleIds } from '../objects/index.ts';
import { type ActorOf, fireRule } from './reaction.ts';
import { type CompiledRule, ruleOf } from './registry.ts';
import { listRuns as listRows, type RunRow } from './store.ts';

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

/** The runs of a rule, newest first. @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function listRuns(ctx: ReadContext, code: string, limit = SHOWN): Promise<RunAnswer[]> {
  ctx.actor.require(RIGHT);
  const rows = await listRows(ctx, requireRule(ctx.config, code).id, limit);
  const created = rows.flatMap(({ effects }) => effects.filter(({ kind }) => kind === 'create').map(({ id }) => id));
  const visible = await visibleIds(ctx, [...new Set([...rows.map(({ objectId }) => objectId), ...created])]);
  const shown = (id: string): string | null => (visible.has(id) ? id : null);
  return rows.map((row) => ({
    ...row,
    objectId: shown(row.objectId),
    effects: row.effects.map(({ kind, id }) => ({ kind, objectId: shown(kind === 'create' ? id : row.objectId) })),
  }));
}

/** The rules that fired in a dry run on records that the caller may read. They need `config.manage`. */
export async function ruleEffects(ctx: ReadContext, reactions: readonly Reacted[]): Promise<Effects['rules']> {
  if (reactions.length === 0 || !ctx.actor.has(RIGHT)) return [];
  const visible = await visibleIds(ctx, [...new Set(reactions.map(({ objectId }) => objectId))]);
  return reactions.flatMap(({ objectId, code, outcome }) => (visible.has(objectId) ? [{ code, outcome }] : []));
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
  const { id, compiled } = requireRule(caller.config, asked.code);
  return await work.dryRun(async (units) => {
    await units.write(caller, async (ctx) => {
      const { row, type } = await requireVisible(ctx, asked.objectId);
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

/**
 * The impact of a plan: who gains or loses access to which records, which stored records no longer fit, which due times move and
 * what stops working. The plan is written in a transaction that is always rolled back, so the rules that count are those of the
 * service itself. Modules contribute their part as an `ImpactSource`.
 */
import type { Static } from 'typebox';
import { Fault } from '../lib/fault.ts';
import { problem } from '../lib/problem.ts';
import type { Runner } from '../platform/unit-of-work/binding.ts';
import type { Actor, ReadContext, WriteContext } from '../platform/unit-of-work/context.ts';
import { type ConfigSnapshot, loadSnapshot } from '../platform/unit-of-work/snapshot.ts';
import type { ImpactSchema } from './contract-plan.ts';
import { sumErrors } from './store-impact.ts';
import { makePlan, type BundleOptions } from './planner.ts';
import type { Bundle } from './read.ts';
import { mayRead } from './require-readable.ts';
import { requireChanged, requireNamed, requireWhole } from './rights.ts';
import type { Change, ConfigSection } from './section.ts';
import { tryLockConfiguration } from './store.ts';

export type Impact = Static<typeof ImpactSchema>;
/** A record as an example. Only records that the caller may read are named. */
export type ImpactExample = AccessCount['examples'][number];
export type RoleImpact = Impact['roles'][number];
export type PersonImpact = Impact['people'][number];
/** Records of a type that become readable or writable, or stop being so. */
export type AccessCount = RoleImpact['records'][number];
export type FieldAccessChange = RoleImpact['fields'][number];
export type ImpactErrors = Impact['totalErrors'];

export const IMPACT_MEASURES = ['lost-access', 'gained-access', 'invalid-records', 'sla-breached', 'broken'] as const;
export type ImpactMeasure = (typeof IMPACT_MEASURES)[number];

/** What a source may read, after the change. Both contexts see all records; their actor has every right. */
export interface ImpactContext {
  before: ReadContext;
  after: ReadContext;
  changes: readonly Change[];
  /** Limits counts to the records that this user may read; null without a limit. */
  limit: Actor | null;
  /** Limits the records that are named. */
  caller: Actor;
  /** Whether less than the share of the time is used; a source that stops early calls `inexact(null)`. */
  hasTime(share?: number): boolean;
  /** Notes that a count is no more exact than the bound. */
  inexact(errorBound: number | null): void;
}

type ImpactSections = Partial<Omit<Impact, 'complete' | 'exact' | 'errorBound' | 'totals' | 'totalErrors'>> & {
  /** Sums over all users, also those that are not listed. */
  access?: { gained: number; lost: number };
  /** The errors of the sums that are not exact. */
  errors?: Partial<ImpactErrors>;
};

/** Called before the change with the present data; the returned function is called after it. */
export type ImpactSource = (
  before: ReadContext,
  hasTime: () => boolean,
) => Promise<(context: ImpactContext) => Promise<ImpactSections>>;

export interface ImpactParts {
  sources: readonly ImpactSource[];
  /** An actor with every right in the configuration. */
  systemActor(config: ConfigSnapshot): Actor;
}

/** No count begins later. The last one ends before 10 s are over. */
const BUDGET_MS = 8000;

/** A context over the transaction of a unit, with another configuration. */
function contextOf(ctx: ReadContext, config: ConfigSnapshot, actor: Actor): ReadContext {
  const { now, via, keyId, correlationId } = ctx;
  const query: ReadContext['query'] = (statement, options) => ctx.query(statement, options);
  const find: ReadContext['find'] = (lookup, key) => ctx.find(lookup, key);
  return { actor, now, via, keyId, correlationId, config, query, find, newId: () => ctx.newId(), memo: new Map() };
}

/**
 * @param write plans the rows of a plan, as an apply does
 * @throws BundleError, Fault as an apply; OVERLOADED if another change of the configuration takes longer than a second
 */
export async function impactOf(
  { work, caller }: Pick<Runner, 'work' | 'caller'>,
  sections: readonly ConfigSection[],
  { sources, systemActor }: ImpactParts,
  {
    bundle,
    options,
    write,
  }: {
    bundle: Bundle;
    options: BundleOptions;
    write: (ctx: WriteContext, plan: Awaited<ReturnType<typeof makePlan>>) => Promise<void>;
  },
): Promise<Impact> {
  const complete = caller.actor.has('role.assign');
  const began = performance.now();
  const hasTime = (share = 1): boolean => performance.now() - began < share * BUDGET_MS;
  return await work.dryRun(async (units) => {
    const first = await units.write(caller, async (ctx) => {
      requireNamed(ctx, sections, bundle, options);
      await tryLockConfiguration(ctx);
      const config = await loadSnapshot(ctx);
      const before = contextOf(ctx, config, systemActor(config));
      const measures = [];
      for (const source of sources) measures.push(await source(before, hasTime));
      const plan = await makePlan(ctx, sections, bundle, options);
      requireChanged(ctx, plan);
      requireWhole(plan, bundle, options);
      await write(ctx, plan);
      return { config, measures, changes: plan.changes.map(({ change }) => change) };
    });
    if (first.kind !== 'done') throw new Error('a dry run cannot be a replay');
    const second = await units.write(caller, async (ctx) => {
      const { config, measures, changes } = first.data;
      const future = await loadSnapshot(ctx);
      const state: { exact: boolean; errorBound: number | null } = { exact: true, errorBound: 0 };
      const context: ImpactContext = {
        before: contextOf(ctx, config, systemActor(config)),
        after: contextOf(ctx, future, systemActor(future)),
        changes,
        limit: complete ? null : caller.actor,
        caller: caller.actor,
        hasTime,
        inexact: (bound) => {
          state.exact = false;
          state.errorBound = bound === null || state.errorBound === null ? null : Math.max(state.errorBound, bound);
        },
      };
      const parts: ImpactSections[] = [];
      for (const measure of measures) parts.push(await measure(context));
      const listed = (key: string): boolean => {
        const section = sections.find((one) => one.key === key);
        return section === undefined || mayRead(ctx, section);
      };
      return summed(complete, parts, { ...state, listed });
    });
    if (second.kind !== 'done') throw new Error('a dry run cannot be a replay');
    return second.data;
  });
}

/** @param listed whether the caller may list the items of a section; others are counted, but not named */
function summed(
  complete: boolean,
  parts: readonly ImpactSections[],
  { listed, ...state }: Pick<Impact, 'exact' | 'errorBound'> & { listed: (section: string) => boolean },
): Impact {
  const joined = <Key extends 'roles' | 'people' | 'constraints' | 'states' | 'sla' | 'broken'>(
    key: Key,
  ): Impact[Key] => parts.flatMap((part) => (part[key] ?? []) as unknown[]) as Impact[Key];
  const [constraints, states, sla, broken] = [joined('constraints'), joined('states'), joined('sla'), joined('broken')];
  const named = broken.filter(({ section }) => listed(section));
  const roles = joined('roles');
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const fields = (change: 'gained' | 'lost'): number =>
    sum(roles.map((role) => role.fields.filter((field) => field.change === change).length));
  return {
    complete: complete && named.length === broken.length,
    ...state,
    roles,
    people: joined('people'),
    affectedPeople: sum(parts.map((part) => part.affectedPeople ?? 0)),
    constraints,
    states,
    sla,
    broken: named,
    totals: {
      'lost-access': sum(parts.map(({ access }) => access?.lost ?? 0)) + fields('lost'),
      'gained-access': sum(parts.map(({ access }) => access?.gained ?? 0)) + fields('gained'),
      'invalid-records': sum([...constraints, ...states].map(({ records }) => records)),
      'sla-breached': sum(sla.map(({ breachedAtOnce }) => breachedAtOnce)),
      broken: broken.length,
    },
    totalErrors: Object.fromEntries(
      IMPACT_MEASURES.map((measure) => [
        measure,
        sumErrors(parts.map(({ errors }) => (errors?.[measure] === undefined ? 0 : errors[measure]))),
      ]),
    ) as ImpactErrors,
  };
}

const COMPARISON = new RegExp(`^\\s*(${IMPACT_MEASURES.join('|')})\\s*(>=|==|>)\\s*([0-9]{1,15})\\s*$`);

export interface Comparison {
  text: string;
  measure: ImpactMeasure;
  operator: '>' | '>=' | '==';
  value: number;
}

/** Parses comparisons joined by `&&`, for example `lost-access>0`. @throws Fault INVALID_REQUEST */
export function parseRefusal(text: string): Comparison[] {
  return text.split('&&').map((part) => {
    const [, measure, operator, value] = COMPARISON.exec(part) ?? [];
    if (measure === undefined) {
      throw new Fault(
        'INVALID_REQUEST',
        problem('REFUSAL_SYNTAX', { text: part.trim(), names: IMPACT_MEASURES.join(', ') }),
      );
    }
    return {
      text: part.trim(),
      measure: measure as ImpactMeasure,
      operator: operator as Comparison['operator'],
      value: Number(value),
    };
  });
}

/** Whether all comparisons hold, or may hold with the error of a total that was counted in a sample. */
export function refuses(
  comparisons: readonly Comparison[],
  { totals, totalErrors }: Pick<Impact, 'totals' | 'totalErrors'>,
): boolean {
  return comparisons.every(({ measure, operator, value }) => {
    const error = totalErrors[measure] ?? Number.POSITIVE_INFINITY;
    if (operator === '==') return Math.abs(totals[measure] - value) <= error;
    const most = totals[measure] + error;
    return operator === '>' ? most > value : most >= value;
  });
}

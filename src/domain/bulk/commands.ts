/**
 * Bulk changes: a loop over the commands for single records. Up to 100 items share one transaction, which loads their records
 * in one read and writes all successful items in one statement. A failed item's planned writes are dropped. If a transaction
 * fails as a whole, its items are run one by one.
 */
import type { Static, TSchema } from 'typebox';
import { type ContractDetail, contractDetails, type Fault, isFault } from '../../lib/fault.ts';
import { Yielder } from '../../lib/yielding.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { WriteContext, Caller } from '../../platform/unit-of-work/context.ts';
import type { Units } from '../../platform/unit-of-work/work.ts';
import { archiveObject, preload, updateObject } from '../objects/index.ts';
import { transitionObject } from '../workflow/index.ts';
import type { ArchiveItem, TransitionItem, UpdateItem } from './contract.ts';

/**
 * Limits of one transaction; sizes are in characters of the items. Larger transactions would block the event loop for too long.
 */
const GROUP = { items: 100, size: 500_000 };
/** Items of one part of a dry run: they are judged well within the time that others wait for it. */
const TRIED = 10;

export interface ItemResult {
  objectId: string;
  status: 'SUCCEEDED' | 'FAILED';
  revision?: number;
  error?: { code: string; message: string; details: ContractDetail[] | Record<string, unknown> };
}

type Items<T extends TSchema> = Static<T>[];
export type BulkInput =
  | { operation: 'update'; items: Items<typeof UpdateItem> }
  | { operation: 'archive'; items: Items<typeof ArchiveItem> }
  | { operation: 'transition'; items: Items<typeof TransitionItem> };

/** One item bound to its command; `run` returns the revision of the record after it. */
interface Step {
  objectId: string;
  /** Characters of its values. */
  size: number;
  run(ctx: WriteContext): Promise<number>;
}

/** Approximate number of characters of the texts in a value. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(value).reduce((sum: number, member) => sum + sizeOf(member), 0);
}

function steps(input: BulkInput): Step[] {
  switch (input.operation) {
    case 'update':
      return input.items.map((item) => ({
        objectId: item.objectId,
        size: sizeOf(item),
        run: async (ctx) => (await updateObject(ctx, item)).revision,
      }));
    case 'archive':
      return input.items.map((item) => ({
        objectId: item.objectId,
        size: sizeOf(item),
        run: async (ctx) => (await archiveObject(ctx, item)).revision,
      }));
    case 'transition':
      return input.items.map((item) => ({
        objectId: item.objectId,
        size: sizeOf(item),
        run: async (ctx) => (await transitionObject(ctx, item)).object.revision,
      }));
  }
}

/**
 * Groups in the order of the items. A repeated record starts a new group, so that its second item sees the result of the first.
 */
function grouped(all: readonly Step[], most: number): Step[][] {
  const groups: Step[][] = [];
  let seen = new Set<string>();
  let size = 0;
  for (const step of all) {
    const last = groups.at(-1);
    size += step.size;
    if (last === undefined || last.length === most || size > GROUP.size || seen.has(step.objectId)) {
      groups.push([step]);
      seen = new Set([step.objectId]);
      size = step.size;
    } else {
      last.push(step);
      seen.add(step.objectId);
    }
  }
  return groups;
}

function failed(step: Step, fault: Fault): ItemResult {
  const { code, message } = fault;
  return {
    objectId: step.objectId,
    status: 'FAILED',
    error: { code, message, details: contractDetails(fault.details) },
  };
}

async function runStep(ctx: WriteContext, step: Step): Promise<ItemResult> {
  try {
    const revision = await ctx.attempt(() => step.run(ctx));
    return { objectId: step.objectId, status: 'SUCCEEDED', revision };
  } catch (error) {
    if (isFault(error)) return failed(step, error);
    throw error;
  }
}

async function runGroup(work: Units, caller: Caller, group: readonly Step[]): Promise<ItemResult[]> {
  const result = await work.write(caller, async (ctx) => {
    await preload(
      ctx,
      group.map((step) => step.objectId),
    );
    const results: ItemResult[] = [];
    const yielder = new Yielder();
    for (const step of group) {
      await yielder.next();
      results.push(await runStep(ctx, step));
    }
    return results;
  });
  if (result.kind !== 'done') throw new Error('bulk has no idempotency key');
  return result.data;
}

/** Returns the results in the order of the items. Partial success is a success (docs/spec/import-export-bulk.md#bulk). */
export async function runBulk({ work, caller: given }: Runner, input: BulkInput): Promise<ItemResult[]> {
  const caller: Caller = { ...given, via: 'bulk' };
  const all = steps(input);
  if (work.part !== undefined) return await tryBulk(work.part, caller, all);
  const results: ItemResult[] = [];
  for (const group of grouped(all, GROUP.items)) results.push(...(await runOrSplit(work, caller, group)));
  return results;
}

/**
 * Runs the group in one transaction. If this fails, runs its items one by one, so that a failing item does not affect the
 * others.
 */
async function runOrSplit(work: Units, caller: Caller, group: readonly Step[]): Promise<ItemResult[]> {
  try {
    return await runGroup(work, caller, group);
  } catch (error) {
    // Earlier groups are committed. Therefore the caller gets a result for each item even if the database becomes unavailable.
    if (!isFault(error)) throw error;
    if (group.length === 1 || error.code === 'DATABASE_UNAVAILABLE') return group.map((step) => failed(step, error));
    const results: ItemResult[] = [];
    for (const step of group) results.push(...(await runOrSplit(work, caller, [step])));
    return results;
  }
}

type RunPart = NonNullable<Runner['work']['part']>;

/**
 * Judges the items in parts that are undone, so that others wait for few records and not for long. An item builds on earlier
 * items of its record, which are in its part; on other records, it sees what is stored.
 */
async function tryBulk(part: RunPart, caller: Caller, all: readonly Step[]): Promise<ItemResult[]> {
  const chains = Map.groupBy(all, (step) => step.objectId);
  const results = new Map<Step, ItemResult>();
  const tryPart = async (chosen: readonly Step[]): Promise<void> => {
    try {
      await part(chosen.length, async (units) => {
        for (const group of grouped(chosen, GROUP.items)) {
          const found = await runOrSplit(units, caller, group);
          for (const [index, step] of group.entries()) results.set(step, found[index] as ItemResult);
        }
      });
    } catch (error) {
      if (!isFault(error)) throw error;
      const ids = new Set(chosen.map((step) => step.objectId));
      if (ids.size === 1) for (const step of chosen) results.set(step, failed(step, error));
      else for (const id of ids) await tryPart(chains.get(id) ?? []);
    }
  };
  let single: Step[] = [];
  const trySingle = async (): Promise<void> => {
    for (const group of grouped(single, TRIED)) await tryPart(group);
    single = [];
  };
  for (const chain of chains.values()) {
    if (chain.length === 1) single.push(...chain);
    else {
      await trySingle();
      await tryPart(chain);
    }
  }
  await trySingle();
  return all.map((step) => results.get(step) as ItemResult);
}

/**
 * Counts of large types (docs/decisions/0018-reports-sum-up-cells.md): which fields have cells, which reports can be answered from
 * them, and the background task that keeps them.
 */
import type { DataType } from '../../lib/data-types/index.ts';
import { fieldsOf } from '../../lib/filter.ts';
import type { Database, Transaction } from '../../platform/database/pool.ts';
import { consume, lockConsumer } from '../../platform/journal/consumers.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { mismatchedVersions, type RecordType, registry } from '../metadata/index.ts';
import type { ReportPlan } from './rules.ts';
import * as store from './store-cells.ts';

/** Data types with few values. Users are left out: cells of a thousand requesters would be as many as records. */
const COUNTED: ReadonlySet<DataType> = new Set(['boolean', 'enum', 'group', 'org-unit', 'service']);

/** System fields that cells have as columns. */
const CELL_FIELDS: ReadonlySet<string> = new Set(['typeId', 'typeCode', 'state', 'workflowState', 'workflowCategory']);

/** Records of a type from which on it is counted. Smaller types are read within milliseconds. */
const LEAST_RECORDS = 20_000;
const AT_ONCE = 2000;
/** Events whose records one transaction counts: others wait for it, for example the start of `docket reindex`. */
const CHANGED_AT_ONCE = 20_000;
const FIRST_AT_ONCE = 10_000;
const REMOVED_AT_ONCE = 20_000;
/** More days would be read record by record than the report saves. */
const MAX_SPLIT_DAYS = 120;
/** Records of shorter periods are found by an index. */
const LEAST_DAYS = 60;
const DAY = 86_400_000;

function countedType(type: RecordType): store.CountedType {
  const fields = [...type.newest.fields.values()].filter(
    ({ code, dataType, multiple }) => COUNTED.has(dataType) && !multiple && mismatchedVersions(type, code).length === 0,
  );
  return { typeId: type.id, fields: fields.map(({ code, storedAs = code }) => storedAs).sort() };
}

/** Codes of the fields with values that groups and filter use. */
function valueFields({ groups, filters }: ReportPlan): Set<string> {
  const ofFilters = (filters ?? []).flatMap(({ condition }) => fieldsOf(condition));
  return new Set([
    ...groups.flatMap((group) => (group.kind === 'field' ? [group.code] : [])),
    ...ofFilters.flatMap(({ kind, code }) => (kind === 'value' ? [code] : [])),
  ]);
}

/** Whether cells have all columns that the report uses, apart from values of fields. */
function hasColumns({ groups, filters, measures, span, hours, steps }: ReportPlan): boolean {
  const conditions = (filters ?? []).flatMap(({ condition }) => fieldsOf(condition));
  return (
    hours === undefined &&
    span?.of !== 'doneAt' &&
    measures.every(store.isSum) &&
    conditions.every(({ kind, code }) => kind === 'value' || CELL_FIELDS.has(code)) &&
    groups.every((group, index) => {
      if (group.kind === 'moment') return group.of === 'createdAt' && steps[index] !== undefined;
      return group.kind === 'field' || (group.kind === 'system' && CELL_FIELDS.has(group.code));
    })
  );
}

/** Whether the report has a period of creation so short that reading its records is as fast. */
function isShort({ span }: ReportPlan, now: string): boolean {
  if (span === null || span.from === null) return false;
  return Date.parse(span.until ?? now) - Date.parse(span.from) < LEAST_DAYS * DAY;
}

/** Starts of the days (UTC) in which a step or the period begins or ends; undefined if there are too many. */
function splitDays({ groups, steps, span }: ReportPlan): string[] | undefined {
  const bounds = groups.flatMap((_, index) => steps[index]?.starts ?? []);
  for (const bound of [span?.from ?? null, span?.until ?? null]) if (bound !== null) bounds.push(bound);
  const days = new Set<number>();
  for (const bound of bounds) {
    const at = Date.parse(bound);
    if (at % DAY !== 0) days.add(Math.floor(at / DAY) * DAY);
  }
  return days.size > MAX_SPLIT_DAYS ? undefined : [...days].map((day) => new Date(day).toISOString());
}

/** Type id → stored code of the one field that the report uses, '' for none; undefined if cells cannot answer it. */
function fieldOfTypes(
  ctx: ReadContext,
  plan: ReportPlan,
  types: readonly RecordType[],
): Map<string, string> | undefined {
  const [code, ...others] = valueFields(plan);
  if (others.length > 0) return undefined;
  const fields = new Map<string, string>();
  for (const type of types) {
    const field = code === undefined ? undefined : type.newest.fields.get(code);
    const stored = field?.storedAs ?? field?.code ?? '';
    if (field !== undefined) {
      const isKnown = countedType(type).fields.includes(stored);
      if (!isKnown || !ctx.actor.fieldAccess(type.id).canAlwaysRead(field.code)) return undefined;
    }
    fields.set(type.id, stored);
  }
  return fields;
}

/** The cells and records that answer the report of a reader of whole types; undefined if it must read all records. */
export async function cellQuery(ctx: ReadContext, plan: ReportPlan): Promise<store.CellQuery | undefined> {
  if (!hasColumns(plan) || isShort(plan, ctx.now)) return undefined;
  const { byId } = registry(ctx);
  const types = plan.typeIds.flatMap((id) => byId.get(id) ?? []);
  const fields = fieldOfTypes(ctx, plan, types);
  const days = splitDays(plan);
  if (fields === undefined || days === undefined) return undefined;
  const changed = await store.uncounted(ctx, types.map(countedType));
  if (changed === undefined) return undefined;
  const slaAt = plan.measures.includes('slaMet') ? ctx.now : null;
  return { fields, changed, splitDays: days, from: plan.span?.from ?? null, until: plan.span?.until ?? null, slaAt };
}

/**
 * One step of counting: takes changes of counted records over, or counts a batch of a type for the first time.
 *
 * @returns whether there is more to do
 */
export async function stepCounting(
  db: Pick<Database, 'transaction' | 'query'>,
  ctx: Pick<ReadContext, 'config'>,
  { least = LEAST_RECORDS, most = CHANGED_AT_ONCE }: { least?: number; most?: number } = {},
): Promise<boolean> {
  const types = [...registry(ctx).byId.values()].map(countedType);
  // Until the place moves, reports correct all of these records, counted again or not.
  const hasMore = await consume(db, store.COUNTING, most, async (batch, tx) => {
    if (await store.forgetDuringRebuild(tx)) return;
    const ids = await store.readChanged(tx, batch);
    for (let at = 0; at < ids.length; at += AT_ONCE) await store.countRecords(tx, ids.slice(at, at + AT_ONCE));
  });
  if (hasMore) return true;
  if (!(await hasUncounted(db, types, least))) return false;
  return await db.transaction('BEGIN', async (tx) => {
    if (!(await lockConsumer(tx, store.COUNTING)) || (await store.forgetDuringRebuild(tx))) return false;
    const counted = await store.readCountedTypes(tx, types);
    for (const type of types) {
      const isWhole = counted.get(type.typeId);
      if (isWhole === true) continue;
      if (isWhole === false) {
        await countNext(tx, type.typeId);
        return true;
      }
      if (!(await store.isLarge(tx, type.typeId, least))) continue;
      await store.beginType(tx, type, REMOVED_AT_ONCE);
      return true;
    }
    return false;
  });
}

async function hasUncounted(
  db: Pick<Database, 'query'>,
  types: readonly store.CountedType[],
  least: number,
): Promise<boolean> {
  const counted = await store.readCountedTypes(db, types);
  for (const { typeId } of types) {
    const isWhole = counted.get(typeId);
    if (isWhole === false || (isWhole === undefined && (await store.isLarge(db, typeId, least)))) return true;
  }
  return false;
}

async function countNext(tx: Transaction, typeId: string): Promise<void> {
  const ids = await store.nextOfType(tx, typeId, FIRST_AT_ONCE);
  await store.countRecords(tx, ids);
  await store.moveType(tx, typeId, ids.length < FIRST_AT_ONCE ? null : (ids.at(-1) ?? null));
}

/**
 * Migrates stored records to the newest version of their type (docs/spec/records.md#type-versions). It works in batches by id,
 * each in its own unit of work, so it can be interrupted and resumed.
 */
import { Fault } from '../../lib/fault.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import {
  checkValue,
  convertValue,
  findType,
  type RecordType,
  registry,
  storedCodes,
  type TypeVersion,
} from '../metadata/index.ts';
import { applyChange } from './commands.ts';
import { deepEqualJson } from '../../lib/json.ts';
import { requireAction } from './load.ts';
import { type Authorized, evaluateAccess, type VisibleObject } from './record.ts';
import { derive, type Values } from './rules.ts';
import { listOlderVersions, moveVersion } from './store.ts';

export interface Unmoved {
  id: string;
  number: string | null;
  reasons: { field: string; reason: string }[];
}

/** A migrated record of which only the type version changed, in its state after the migration. */
export interface MovedAlone {
  id: string;
  typeId: string;
  typeVersion: number;
  number: string | null;
  values: Values;
}

export interface MigratedBatch {
  moved: number;
  /**
   * The migrated records for which no event was emitted. The caller must update everything that depends on their type version.
   */
  silently: MovedAlone[];
  unmoved: Unmoved[];
  /** The start of the next batch; null after the last one. */
  next: string | null;
}

const BATCH = 200;

/** @throws Fault NOT_FOUND when there is no such type */
export async function migrateTypeBatch(ctx: WriteContext, code: string, after: string | null): Promise<MigratedBatch> {
  ctx.actor.require('config.manage');
  const type = findType(registry(ctx), code);
  if (type === undefined) throw new Fault('NOT_FOUND', `There is no record type "${code}".`);
  const rows = await listOlderVersions(ctx, type.id, type.newest.version, after, BATCH);
  const unmoved: Unmoved[] = [];
  const silently: MovedAlone[] = [];
  for (const row of rows) {
    const object = requireAction(evaluateAccess(ctx, row), 'update');
    const { values, reasons } = convert(type, object);
    if (reasons.length > 0) unmoved.push({ id: row.id, number: row.number, reasons });
    else if ((await move(ctx, type, object, values)) === 'silently') {
      const { id, number } = row;
      silently.push({ id, typeId: type.id, typeVersion: type.newest.version, number, values });
    }
  }
  return {
    moved: rows.length - unmoved.length,
    silently,
    unmoved,
    next: rows.length < BATCH ? null : (rows.at(-1)?.id ?? null),
  };
}

/** The values of a record in the newest version of its type, and why some of them cannot be kept. */
export function convert(
  type: Pick<RecordType, 'newest'>,
  { row, version }: { row: { values: Readonly<Record<string, unknown>> }; version: Pick<TypeVersion, 'fields'> },
): { values: Values; reasons: Unmoved['reasons'] } {
  const values: Values = {};
  const reasons: Unmoved['reasons'] = [];
  for (const field of type.newest.fields.values()) {
    const { code } = field;
    const before = version.fields.get(code);
    const stored = Object.hasOwn(row.values, code) ? row.values[code] : undefined;
    if (stored !== undefined && before !== undefined) {
      const converted = convertValue(before, field, stored);
      if (!converted.ok) reasons.push({ field: code, reason: converted.reason });
      else if (converted.stored !== null) values[code] = converted.stored;
      else if (field.required) reasons.push({ field: code, reason: 'required, and nothing is left of the old value' });
    } else if (field.required) {
      if (field.default === undefined) reasons.push({ field: code, reason: 'required, and there is no default' });
      else if (checkValue(field, field.default, '').ok) values[code] = field.default;
    }
  }
  return { values, reasons };
}

/** The state in the newest version's workflow: the same state, else the state with the same code, else the initial state. */
function stateIn(type: RecordType, { row, state }: VisibleObject): string | null {
  const { workflow } = type.newest;
  if (workflow === null) return null;
  if (row.workflowStateId !== null && workflow.states.has(row.workflowStateId)) return row.workflowStateId;
  const same = [...workflow.states.values()].find((one) => one.code === state?.code);
  return same?.id ?? workflow.initialId;
}

async function move(
  ctx: WriteContext,
  type: RecordType,
  object: Authorized<'update'>,
  values: Values,
): Promise<'silently' | 'with-event'> {
  const before = object.row.values;
  const changes: Record<string, [unknown, unknown]> = {};
  for (const code of new Set([...Object.keys(before), ...Object.keys(values)])) {
    if (!deepEqualJson(before[code], values[code])) changes[code] = [before[code] ?? null, values[code] ?? null];
  }
  const workflowStateId = stateIn(type, object);
  if (workflowStateId !== object.row.workflowStateId) {
    const states = type.newest.workflow?.states;
    const code = workflowStateId === null ? null : (states?.get(workflowStateId)?.code ?? null);
    changes.workflowState = [object.state?.code ?? null, code];
  }
  if (Object.keys(changes).length === 0) {
    // Nothing visible changes: no new revision, no event.
    ctx.plan(moveVersion, {
      id: object.row.id,
      expected: object.row.revision,
      type_version: type.newest.version,
      folded: storedCodes(registry(ctx), type.id).encode(derive(type.newest, values).folded),
    });
    return 'silently';
  }
  await applyChange(ctx, object, {
    event: { type: 'ObjectUpdated', data: { migratedToVersion: type.newest.version } },
    typeVersion: type.newest.version,
    values,
    workflowStateId,
    changes,
  });
  return 'with-event';
}

/** Values that refer to other items: each item must exist, be active and be readable by the user who sets the value. */
import type { IdOf } from '../../lib/data-types/index.ts';
import { isActive } from '../../contract/state.ts';
import { type FaultDetail, invalidValues } from '../../lib/fault.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { pointer } from '../../lib/json.ts';
import { problemAt } from '../../lib/problem.ts';
import { fieldLists, idsIn, idsOf, type NamedIds, registry, type TypeVersion } from '../metadata/index.ts';
import { evaluateAccess } from './record.ts';
import type { Values } from './rules.ts';
import { findObject } from './store.ts';
import {
  findNamed,
  type FoundThings,
  namedGroups,
  namedObjects,
  type NamedThings,
  namedUnits,
  namedUsers,
} from './store-lookups.ts';

/**
 * Checks the ids in `values`. They are nearly always valid, so the first attempt checks them with guards in the statement that
 * writes the change. If a guard fails, the retry looks all ids up in one statement and names the invalid fields. A record that
 * the caller may not read gets the same answer as one that does not exist.
 *
 * @param onBehalf whose rights apply: those of the unit of work, or of the user for whom it acts
 * @throws Fault INVALID_VALUES
 */
export async function requireReferences(
  ctx: WriteContext,
  version: TypeVersion,
  values: Values,
  member: string,
  onBehalf: ReadContext = ctx,
): Promise<void> {
  const named = idsIn(fieldLists(version).ids, values);
  if (named.length === 0) return;
  // A guard always applies the rights of the unit's own actor.
  if (!ctx.isRetry && onBehalf === ctx && leaveToGuard(ctx, version, named)) return;
  const ids = idsByKind(named);
  const [record, ...others] = ids.records;
  const isOne = record !== undefined && others.length === 0;
  const visible = isOne || record === undefined ? null : onBehalf.actor.visible('o', 'read', ctx.now);
  const found = await findNamed(onBehalf, ids, visible);
  const known = isOne ? { ...found, records: await findOne(onBehalf, record) } : found;
  const types = registry(ctx);
  const codeOf = (record: IdOf<'records'>): string | undefined => types.byId.get(known.records.get(record) ?? '')?.code;
  const problems = named.flatMap((entry): FaultDetail[] => {
    const allowed = version.fields.get(entry.code)?.constraints.types;
    const isAllowed = (id: IdOf<'records'>): boolean => allowed === undefined || allowed.includes(codeOf(id) ?? '');
    const isRight =
      isFound(entry, known, types.services) && (entry.refersTo !== 'records' || entry.ids.every(isAllowed));
    return isRight ? [] : [problemAt(pointer(member, entry.code), 'NO_MATCHING_RECORD')];
  });
  if (problems.length > 0) throw invalidValues(problems);
}

/** The ids that are to be looked up, each as the kind that its field names. */
export function idsByKind(named: readonly NamedIds[]): NamedThings {
  return {
    users: idsOf(named, 'users'),
    groups: idsOf(named, 'groups'),
    orgUnits: idsOf(named, 'orgUnits'),
    records: idsOf(named, 'records'),
  };
}

/** Whether each id of the field names an item of the field's kind, whatever the ids of other fields name. */
export function isFound(entry: NamedIds, found: FoundThings, services: ReadonlySet<string>): boolean {
  switch (entry.refersTo) {
    case 'users':
      return entry.ids.every((id) => found.users.has(id));
    case 'groups':
      return entry.ids.every((id) => found.groups.has(id));
    case 'orgUnits':
      return entry.ids.every((id) => found.orgUnits.has(id));
    case 'services':
      return entry.ids.every((id) => services.has(id));
    case 'records':
      return entry.ids.every((id) => found.records.has(id));
  }
}

/**
 * The same for one record as `findNamed`, with the rights judged in memory: the look-up shares its statement with those of other
 * requests, and a request for somebody else usually names one record.
 */
async function findOne(ctx: ReadContext, id: IdOf<'records'>): Promise<FoundThings['records']> {
  const row = await findObject(ctx, id);
  const isFound = row !== undefined && isActive(row) && evaluateAccess(ctx, row).right.can('read');
  return new Map(isFound ? [[id, row.typeId]] : []);
}

/**
 * Plans guards for the ids. Those of records depend on the caller's rights; services are checked in the configuration.
 *
 * @returns false if an id is already known to be invalid; then nothing was planned
 */
function leaveToGuard(ctx: WriteContext, version: TypeVersion, named: readonly NamedIds[]): boolean {
  const types = registry(ctx);
  const references = named.some(({ refersTo }) => refersTo === 'records');
  const visible = references ? ctx.actor.visible('o', 'read', ctx.now) : null;
  if (references && visible === null) return false;
  if (!idsOf(named, 'services').every((id) => types.services.has(id))) return false;
  for (const entry of named) {
    switch (entry.refersTo) {
      case 'users':
        for (const id of entry.ids) ctx.plan(namedUsers, { id });
        break;
      case 'groups':
        for (const id of entry.ids) ctx.plan(namedGroups, { id });
        break;
      case 'orgUnits':
        for (const id of entry.ids) ctx.plan(namedUnits, { id });
        break;
      case 'services':
        break;
      case 'records': {
        if (visible === null) break;
        const allowed = version.fields.get(entry.code)?.constraints.types;
        const typeIds = allowed?.flatMap((type) => types.byCode.get(type)?.id ?? []) ?? null;
        for (const id of entry.ids) ctx.plan(namedObjects(visible), { id, types: typeIds });
      }
    }
  }
  return true;
}

/** Values that refer to other items: each item must exist, be active and be readable by the user who sets the value. */
import { descriptorOf, type Referent } from '../../lib/data-types/index.ts';
import { isActive } from '../../contract/state.ts';
import { type FaultDetail, invalidValues } from '../../lib/fault.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { pointer } from '../../lib/json.ts';
import { problemAt } from '../../lib/problem.ts';
import { fieldLists, idsIn, type NamedIds, registry, type TypeVersion } from '../metadata/index.ts';
import { evaluateAccess } from './record.ts';
import type { Values } from './rules.ts';
import { findObject } from './store.ts';
import { findNamed, namedGroups, namedObjects, namedUnits, namedUsers } from './store-lookups.ts';

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
  const of = (referent: Referent): string[] => [
    ...new Set(named.flatMap((entry) => (referentOf(entry) === referent ? entry.ids : []))),
  ];
  const ids = { users: of('users'), groups: of('groups'), units: of('orgUnits'), objects: of('records') };
  const [record, ...others] = ids.objects;
  const isOne = record !== undefined && others.length === 0;
  const visible = isOne || record === undefined ? null : onBehalf.actor.visible('o', 'read', ctx.now);
  const found = await findNamed(onBehalf, ids, visible);
  const objects = isOne ? await findOne(onBehalf, record) : found.objects;
  const types = registry(ctx);
  const problems: FaultDetail[] = [];
  for (const entry of named) {
    const allowed = version.fields.get(entry.code)?.constraints.types;
    const right = (id: string): boolean => {
      const referent = referentOf(entry);
      if (referent === 'services') return types.services.has(id);
      if (referent !== 'records') return found.people.has(id);
      const typeId = objects.get(id);
      const code = typeId === undefined ? undefined : types.byId.get(typeId)?.code;
      return code !== undefined && (allowed === undefined || allowed.includes(code));
    };
    if (!entry.ids.every(right)) {
      problems.push(problemAt(pointer(member, entry.code), 'NO_MATCHING_RECORD'));
    }
  }
  if (problems.length > 0) throw invalidValues(problems);
}

/**
 * The same for one record as `findNamed`, with the rights judged in memory: the look-up shares its statement with those of other
 * requests, and a request for somebody else usually names one record.
 */
async function findOne(ctx: ReadContext, id: string): Promise<ReadonlyMap<string, string>> {
  const row = await findObject(ctx, id);
  const isFound = row !== undefined && isActive(row) && evaluateAccess(ctx, row).right.can('read');
  return new Map(isFound ? [[id, row.typeId]] : []);
}

function referentOf({ dataType }: NamedIds): Referent | undefined {
  return descriptorOf(dataType).refersTo;
}

/** Guards of ids. Those of records depend on the caller's rights; services are checked in the configuration. */
const GUARDS: Readonly<Record<Referent, typeof namedUsers | null>> = {
  users: namedUsers,
  groups: namedGroups,
  orgUnits: namedUnits,
  records: null,
  services: null,
};

/** Plans guards for the ids. @returns false if an id is already known to be invalid; then nothing was planned */
function leaveToGuard(ctx: WriteContext, version: TypeVersion, named: readonly NamedIds[]): boolean {
  const types = registry(ctx);
  const references = named.some((entry) => referentOf(entry) === 'records');
  const visible = references ? ctx.actor.visible('o', 'read', ctx.now) : null;
  if (references && visible === null) return false;
  const services = named.filter((entry) => referentOf(entry) === 'services');
  if (!services.every(({ ids }) => ids.every((id) => types.services.has(id)))) return false;
  const objects = visible === null ? undefined : namedObjects(visible);
  for (const entry of named) {
    const { code, ids } = entry;
    const referent = referentOf(entry);
    const guard = referent === undefined ? null : GUARDS[referent];
    if (guard !== null) for (const id of ids) ctx.plan(guard, { id });
    if (referent !== 'records' || objects === undefined) continue;
    const allowed = version.fields.get(code)?.constraints.types;
    const typeIds = allowed?.flatMap((type) => types.byCode.get(type)?.id ?? []) ?? null;
    for (const id of ids) ctx.plan(objects, { id, types: typeIds });
  }
  return true;
}

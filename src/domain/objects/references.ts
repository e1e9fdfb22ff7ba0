/** Values that point to something: what they name must exist, be active, and be readable to whoever sets it. */
import type { FaultDetail } from '../../lib/fault.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import { pointer } from '../../lib/json.ts';
import { idsIn, registry, type TypeVersion } from '../metadata/door.ts';
import { invalidValues, type Values } from './rules.ts';
import { findNamed } from './store.ts';

/**
 * Checks the ids in `values`, all kinds in one statement, none when there is nothing to check. A record that the
 * caller may not read gets the same answer as one that is not there.
 *
 * @throws Fault INVALID_VALUES
 */
export async function requireReferences(
  ctx: ReadContext,
  version: TypeVersion,
  values: Values,
  member: string,
): Promise<void> {
  const named = idsIn([...version.fields.values()], values);
  if (named.length === 0) return;
  const of = (dataType: string): string[] => [
    ...new Set(named.flatMap((entry) => (entry.dataType === dataType ? entry.ids : []))),
  ];
  const ids = { users: of('user'), groups: of('group'), units: of('org-unit'), objects: of('reference') };
  const visible = ids.objects.length > 0 ? ctx.actor.visible('o', 'read', ctx.now) : null;
  const found = await findNamed(ctx, ids, visible);
  const types = registry(ctx);
  const problems: FaultDetail[] = [];
  for (const entry of named) {
    const allowed = version.fields.get(entry.code)?.constraints.types;
    const right = (id: string): boolean => {
      if (entry.dataType === 'service') return types.services.has(id);
      if (entry.dataType !== 'reference') return found.people.has(id);
      const typeId = found.objects.get(id);
      const code = typeId === undefined ? undefined : types.byId.get(typeId)?.code;
      return code !== undefined && (allowed === undefined || allowed.includes(code));
    };
    if (!entry.ids.every(right)) {
      problems.push({
        path: pointer(member, entry.code),
        code: 'UNKNOWN_REFERENCE',
        message: 'The id names nothing that may stand here.',
      });
    }
  }
  if (problems.length > 0) throw invalidValues(problems);
}

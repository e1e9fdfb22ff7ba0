/** Which roles change with the configuration, and which users have the same rights. */
import { deepEqualJson } from '../../lib/json.ts';
import type { ConfigItem, ConfigSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import { type RoleDefinition, roleView } from './roles.ts';
import type { UserRow } from './store.ts';

export function itemsOf(config: ConfigSnapshot, section: string): Map<string, ConfigItem> {
  return new Map(config.items(section).map((item) => [item.id, item]));
}

type Grants = Pick<RoleDefinition, 'records'>;
const grantsIn = (role: ConfigItem | undefined): Grants['records'] =>
  (role?.compiled as Grants | undefined)?.records ?? [];

/** Role id → ids of the types that its grants cover, of the roles whose grants differ or have conditions on changed types. */
export function changedRoles(was: ConfigSnapshot, is: ConfigSnapshot): Map<string, Set<string>> {
  const [before, after] = [itemsOf(was, 'roles'), itemsOf(is, 'roles')];
  const [oldTypes, newTypes] = [itemsOf(was, 'types'), itemsOf(is, 'types')];
  const types = new Set<string>();
  for (const { id, code, compiled } of oldTypes.values()) {
    if (!deepEqualJson(compiled, newTypes.get(id)?.compiled)) types.add(code);
  }
  const depends = (role: ConfigItem | undefined): boolean =>
    grantsIn(role).some(
      ({ type, where }) => where !== undefined && types.size > 0 && (type === '*' || types.has(type)),
    );
  const same = (id: string): boolean => {
    const [one, other] = [before.get(id), after.get(id)];
    return one?.state === other?.state && deepEqualJson(one?.compiled, other?.compiled) && !depends(one);
  };
  const covered = (config: ConfigSnapshot, id: string): Iterable<string> =>
    config.get(roleView).one(id)?.grants.keys() ?? [];
  return new Map(
    [...new Set([...before.keys(), ...after.keys()])]
      .filter((id) => !same(id))
      .map((id) => [id, new Set([...covered(was, id), ...covered(is, id)])]),
  );
}

const VARIABLES = { me: '"$me"', groups: '"$myGroups"', orgUnit: '"$myOrgUnit"', orgUnits: '"$myOrgUnits"' } as const;

/**
 * A function that gives equal texts for users with the same rights on every record: those with the same roles, and equal in the
 * variables that conditions of these roles use.
 */
export function profiles(config: ConfigSnapshot): (user: UserRow | undefined) => string {
  const used = new Map(
    [...itemsOf(config, 'roles')].map(([id, role]) => {
      const text = JSON.stringify(grantsIn(role).map(({ where }) => where));
      return [
        id,
        (Object.keys(VARIABLES) as (keyof typeof VARIABLES)[]).filter((key) => text.includes(VARIABLES[key])),
      ];
    }),
  );
  return (user) => {
    if (user === undefined) return '';
    const { id, roles, groups, orgUnit, orgUnits } = user;
    const values = { me: id, groups, orgUnit, orgUnits };
    const keys = new Set(roles.flatMap((role) => used.get(role) ?? []));
    return JSON.stringify([[...roles].sort(), [...keys].sort().map((key) => [key, values[key]])]);
  };
}

/**
 * What the rules on memberships need to know about roles: which conditions depend on memberships, and which memberships a role
 * allows to give.
 */
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';

/** Variables of the condition language that stand for the caller's memberships. */
const VARIABLES = ['$myGroups', '$myOrgUnit', '$myOrgUnits'] as const;
export type MembershipVariable = (typeof VARIABLES)[number];

export interface RoleFacts {
  /** Variables that the row conditions of the role use. */
  variables: ReadonlySet<MembershipVariable>;
  /** Ids of the groups and units whose memberships the holders of the role may give. */
  groups: ReadonlySet<string> | '*';
  orgUnits: ReadonlySet<string> | '*';
}

interface CompiledRole {
  records: readonly { where?: unknown }[];
  memberships?: { groups: readonly string[] | '*'; orgUnits: readonly string[] | '*' };
}

function isVariable(value: unknown): value is MembershipVariable {
  return VARIABLES.some((variable) => variable === value);
}

/** The variables in a condition, at any depth. A literal text that looks like a variable is written with two dollar signs. */
function* variablesIn(condition: unknown): Generator<MembershipVariable> {
  if (isVariable(condition)) yield condition;
  else if (typeof condition === 'object' && condition !== null) {
    for (const part of Object.values(condition)) yield* variablesIn(part);
  }
}

function build(source: ConfigSource): ReadonlyMap<string, RoleFacts> {
  const found = new Map<string, RoleFacts>();
  for (const { id, section, state, compiled } of source.items) {
    if (section !== 'roles' || state !== 'ACTIVE') continue;
    const { records, memberships } = compiled as CompiledRole;
    const named = (list: readonly string[] | '*' | undefined) => (list === '*' ? list : new Set(list));
    found.set(id, {
      variables: new Set(records.flatMap(({ where }) => [...variablesIn(where)])),
      groups: named(memberships?.groups),
      orgUnits: named(memberships?.orgUnits),
    });
  }
  return found;
}

/** Id of an active role → what it means for memberships. */
export const roleFactsSlice: DerivedView<ReadonlyMap<string, RoleFacts>> = { name: 'identity.roles', build };

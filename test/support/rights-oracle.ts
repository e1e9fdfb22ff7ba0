/**
 * Generators of users, roles and records, and a naive oracle of permitted actions (docs/spec/search.md#condition-language,
 * docs/spec/access.md#roles-and-rights).
 */
import fc from 'fast-check';

export const LOGINS = ['ann', 'ben', 'cyd', 'dan', 'eve', 'fay'] as const;
export const GROUPS = ['red', 'blue', 'navy'] as const;
export const FIELDS = ['title', 'kind', 'size', 'flag', 'note', 'tags', 'owner', 'team'] as const;
export const READ_WRITE = ['read', 'create', 'update', 'archive', 'history'] as const;
export type Login = (typeof LOGINS)[number];
type Group = (typeof GROUPS)[number];
export type Field = (typeof FIELDS)[number];
export type Values = Partial<Record<Field, unknown>>;

interface Condition {
  field?: string;
  operator?: string;
  value?: unknown;
  logic?: 'AND' | 'OR';
  conditions?: Condition[];
}

export interface Role {
  where: Condition | null;
  actions: readonly string[];
  read: readonly Field[] | '*';
  write: readonly Field[] | '*';
  users: readonly Login[];
  groups: readonly Group[];
}

/** Navy is within blue: who is in navy is in blue too. */
export const MEMBERS: Readonly<Record<Group, readonly Login[]>> = {
  red: ['ann', 'ben'],
  blue: ['cyd'],
  navy: ['dan', 'ben'],
};
const groupsOf = (login: Login): Group[] => [
  ...(MEMBERS.red.includes(login) ? (['red'] as const) : []),
  ...(MEMBERS.blue.includes(login) || MEMBERS.navy.includes(login) ? (['blue'] as const) : []),
  ...(MEMBERS.navy.includes(login) ? (['navy'] as const) : []),
];

const leaf: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({
    field: fc.constant('kind'),
    operator: fc.constantFrom('equals', 'not-equals'),
    value: fc.constantFrom('a', 'b'),
  }),
  fc.record({ field: fc.constant('kind'), operator: fc.constant('in'), value: fc.constant(['a', 'c']) }),
  fc.record({
    field: fc.constant('size'),
    operator: fc.constantFrom('before', 'after', 'equals', 'not-equals'),
    value: fc.integer({ min: 0, max: 9 }),
  }),
  fc.record({ field: fc.constant('size'), operator: fc.constant('range'), value: fc.constant([3, 6]) }),
  fc.record({ field: fc.constant('flag'), operator: fc.constantFrom('equals', 'not-equals'), value: fc.boolean() }),
  fc.record({
    field: fc.constantFrom('note', 'title'),
    operator: fc.constantFrom('contains', 'starts-with'),
    value: fc.constantFrom('ЁЛ', 'ел', 'x'),
  }),
  fc.record({
    field: fc.constant('tags'),
    operator: fc.constantFrom('equals', 'not-equals'),
    value: fc.constantFrom('u', 'v'),
  }),
  fc.record({
    field: fc.constantFrom('note', 'tags', 'size', 'owner'),
    operator: fc.constant('is-empty'),
    value: fc.boolean(),
  }),
  fc.record({
    field: fc.constant('owner'),
    operator: fc.constantFrom('equals', 'not-equals'),
    value: fc.constant('$me'),
  }),
  fc.record({ field: fc.constant('team'), operator: fc.constant('in'), value: fc.constant('$myGroups') }),
);
const condition: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 2, arbitrary: leaf },
  {
    weight: 1,
    arbitrary: fc.record({
      logic: fc.constantFrom('AND', 'OR'),
      conditions: fc.array(leaf, { minLength: 1, maxLength: 3 }),
    }),
  },
);
const fieldList = fc.oneof(fc.constant('*' as const), fc.subarray([...FIELDS]));
export const role: fc.Arbitrary<Role> = fc.record({
  where: fc.option(condition, { freq: 4 }),
  actions: fc.subarray([...READ_WRITE], { minLength: 1 }),
  read: fieldList,
  write: fieldList,
  users: fc.subarray([...LOGINS], { maxLength: 3 }),
  groups: fc.subarray([...GROUPS], { maxLength: 1 }),
});
export const values: fc.Arbitrary<Values> = fc.record(
  {
    title: fc.constantFrom('Ёлка', 'xyz', 'елка и x'),
    kind: fc.constantFrom('a', 'b', 'c'),
    size: fc.integer({ min: 0, max: 9 }),
    flag: fc.boolean(),
    note: fc.constantFrom('ель', 'Xa', 'ничего'),
    tags: fc.uniqueArray(fc.constantFrom('u', 'v', 'w'), { minLength: 1 }),
    owner: fc.constantFrom(...LOGINS),
    team: fc.constantFrom(...GROUPS),
  },
  { requiredKeys: [] },
);

function folded(text: string): string {
  return text.toLowerCase().replaceAll('ё', 'е');
}

/**
 * The condition language in its plainest reading (docs/spec/search.md#condition-language), on values with logins and codes for
 * ids.
 */
function holds(where: Condition | null, record: Values, me: Login): boolean {
  if (where === null) return true;
  if (where.conditions !== undefined) {
    const each = where.conditions.map((one) => holds(one, record, me));
    return where.logic === 'AND' ? each.every(Boolean) : each.some(Boolean);
  }
  const value = record[where.field as Field];
  const given = where.value === '$me' ? me : where.value === '$myGroups' ? groupsOf(me) : where.value;
  if (where.operator === 'is-empty') return (value === undefined) === given;
  if (where.operator === 'not-equals') return !holds({ ...where, operator: 'equals' }, record, me);
  if (value === undefined) return false;
  return (Array.isArray(value) ? value : [value]).some((element) => {
    switch (where.operator) {
      case 'equals':
        return element === given;
      case 'in':
        return (given as unknown[]).includes(element);
      case 'before':
        return element < (given as number);
      case 'after':
        return element > (given as number);
      case 'range':
        return element >= (given as number[])[0]! && element <= (given as number[])[1]!;
      case 'contains':
        return folded(element).includes(folded(given as string));
      case 'starts-with':
        return folded(element).startsWith(folded(given as string));
      default:
        throw new Error(`the oracle does not know ${where.operator}`);
    }
  });
}

export interface Allowed {
  can(action: string): boolean;
  reads(field: Field): boolean;
  writes(field: Field): boolean;
}

export function allowed(roles: readonly Role[], me: Login, record: Values): Allowed {
  const held = roles.filter(
    ({ users, groups }) => users.includes(me) || groups.some((group) => groupsOf(me).includes(group)),
  );
  const grants = held.filter(({ where }) => holds(where, record, me));
  return {
    can: (action) => grants.some(({ actions }) => actions.includes(action)),
    reads: (field) => grants.some(({ read }) => read === '*' || read.includes(field)),
    writes: (field) => grants.some(({ write }) => write === '*' || write.includes(field)),
  };
}

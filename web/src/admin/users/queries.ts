/** Queries of users, groups and units; they share the key `identity`. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, call } from '../../api/client.ts';
import type { identity, identityAdmin } from '../../api/types.ts';
import { namesOf } from '../../fields/labels.ts';
import { currentLanguage } from '../../i18n/language.ts';

export type User = AnswerOf<typeof identity.listUsers>[number];
export type GroupRow = AnswerOf<typeof identity.listGroups>[number];
export type Unit = AnswerOf<typeof identity.listUnits>[number];

/** Replaces names in the default language by those in the language of the console, and sorts by them. */
async function named<Row extends { id: string; name: string }>(rows: readonly Row[]): Promise<Row[]> {
  const names = await namesOf(rows.map(({ id }) => id));
  const { compare } = new Intl.Collator(currentLanguage());
  return rows.map((row) => ({ ...row, name: names.get(row.id) || row.name })).sort((a, b) => compare(a.name, b.name));
}

export const usersQuery = queryOptions({
  queryKey: ['identity', 'users'],
  queryFn: ({ signal }) => call<typeof identity.listUsers>('GET', '/identity/users', { signal }),
});
export const groupsQuery = queryOptions({
  queryKey: ['identity', 'groups'],
  queryFn: async ({ signal }) =>
    await named(await call<typeof identity.listGroups>('GET', '/identity/groups', { signal })),
});
export const unitsQuery = queryOptions({
  queryKey: ['identity', 'units'],
  queryFn: async ({ signal }) =>
    await named(await call<typeof identity.listUnits>('GET', '/identity/org-units', { signal })),
});
export const archivedQuery = queryOptions({
  queryKey: ['identity', 'archived'],
  queryFn: async ({ signal }) => {
    const { users, groups, orgUnits } = await call<typeof identityAdmin.listArchived>('GET', '/identity/archived', {
      signal,
    });
    return { users, groups: await named(groups), orgUnits: await named(orgUnits) };
  },
});
export const membersQuery = (query: { groupId?: string; memberId?: string }) =>
  queryOptions({
    queryKey: ['identity', 'members', query],
    queryFn: ({ signal }) =>
      call<typeof identityAdmin.listGroupMembers>('GET', '/identity/group-memberships', { query, signal }),
  });
export const unitMembersQuery = (organizationUnitId: string) =>
  queryOptions({
    queryKey: ['identity', 'unit-members', organizationUnitId],
    queryFn: ({ signal }) =>
      call<typeof identityAdmin.listOrgMembers>('GET', '/identity/org-memberships', {
        query: { organizationUnitId },
        signal,
      }),
  });

/** Keys to invalidate after changes of users, groups and units. */
export const IDENTITY = [['identity'], ['choices'], ['label'], ['session'], ['config']] as const;

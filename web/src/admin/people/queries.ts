/** People, groups and units as their screens read them; everything under the key `identity`. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, call } from '../../api/client.ts';
import type { identity, identityAdmin } from '../../api/types.ts';

export type User = AnswerOf<typeof identity.listUsers>[number];
export type GroupRow = AnswerOf<typeof identity.listGroups>[number];
export type Unit = AnswerOf<typeof identity.listUnits>[number];

export const usersQuery = queryOptions({
  queryKey: ['identity', 'users'],
  queryFn: ({ signal }) => call<typeof identity.listUsers>('GET', '/identity/users', { signal }),
});
export const groupsQuery = queryOptions({
  queryKey: ['identity', 'groups'],
  queryFn: ({ signal }) => call<typeof identity.listGroups>('GET', '/identity/groups', { signal }),
});
export const unitsQuery = queryOptions({
  queryKey: ['identity', 'units'],
  queryFn: ({ signal }) => call<typeof identity.listUnits>('GET', '/identity/org-units', { signal }),
});
export const archivedQuery = queryOptions({
  queryKey: ['identity', 'archived'],
  queryFn: ({ signal }) => call<typeof identityAdmin.listArchived>('GET', '/identity/archived', { signal }),
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

/** What changes of people, groups and units make stale. */
export const IDENTITY = [['identity'], ['choices'], ['label'], ['session'], ['config']] as const;

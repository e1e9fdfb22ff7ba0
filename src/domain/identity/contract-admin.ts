/** The API contract of users, groups and units in the administration API (docs/spec/configuration.md#administration-api). */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, LocaleCode, Name, nullable, Revision } from '../../contract/schemas.ts';
import { Group, GroupMembership, OrgMembership, OrgUnit, User } from './contract.ts';

const Text = Type.String({ minLength: 1, maxLength: 255 });
const params = closed({ id: Id });
const shared = { access: 'console', right: 'user.administer', tag: 'Identity', status: 200 } as const;

const change = { ...shared, method: 'PATCH', unit: 'write', params } as const;
const CHANGE_FAULTS = ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'REVISION_CONFLICT', 'INVALID_VALUES'] as const;
const KEPT =
  'Omitted properties keep their values; null clears a property. A request whose values all equal the stored ones changes nothing.';

export const changeUser = defineOperation({
  ...change,
  id: 'identity.changeUser',
  path: '/identity/users/{id}',
  summary: 'Change a user',
  description: `${KEPT} The login cannot be changed, because the configuration refers to it. E-mail address and external id identify a user at sign-in. Callers without the right role.assign cannot change their own, and can change those of another user only if they have all access that this user has.`,
  body: closed({
    expectedRevision: Revision,
    displayName: Type.Optional(Text),
    email: Type.Optional(Text),
    locale: Type.Optional(nullable(LocaleCode)),
    timezone: Type.Optional(nullable(Text)),
    employeeId: Type.Optional(nullable(Text)),
    externalId: Type.Optional(nullable(Text)),
  }),
  answer: User,
  faults: [...CHANGE_FAULTS, 'ALREADY_EXISTS', 'ROLE_ESCALATION', 'LAST_ADMINISTRATOR'],
});

export const changeGroup = defineOperation({
  ...change,
  id: 'identity.changeGroup',
  path: '/identity/groups/{id}',
  summary: 'Change a group',
  description: `${KEPT} The code cannot be changed, because the configuration refers to it.`,
  body: closed({ expectedRevision: Revision, name: Type.Optional(Name) }),
  answer: Group,
  faults: CHANGE_FAULTS,
});

export const changeUnit = defineOperation({
  ...change,
  id: 'identity.changeOrgUnit',
  path: '/identity/org-units/{id}',
  summary: 'Change an organisation unit',
  description: `${KEPT} The code cannot be changed, because the configuration refers to it.`,
  body: closed({
    expectedRevision: Revision,
    name: Type.Optional(Name),
    parentId: Type.Optional(nullable(Id)),
    managerUserId: Type.Optional(nullable(Id)),
    location: Type.Optional(nullable(Text)),
  }),
  answer: OrgUnit,
  faults: [...CHANGE_FAULTS, 'ROLE_ESCALATION'],
});

/** `expectedRevision` is optional: without it, the operation applies to any revision. */
const turned = {
  ...shared,
  method: 'POST',
  unit: 'write',
  params,
  body: closed({ expectedRevision: Type.Optional(Revision) }),
} as const;
const ARCHIVE_FAULTS = ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'REVISION_CONFLICT'] as const;
const RESTORE_FAULTS = ['NOT_FOUND', 'RIGHT_MISSING', 'STATE_CONFLICT', 'REVISION_CONFLICT'] as const;

export const archiveUser = defineOperation({
  ...turned,
  id: 'identity.archiveUser',
  path: '/identity/users/{id}/archive',
  summary: 'Archive a user',
  description:
    'API keys and sessions of the user stop working within a second in every process. Earlier actions keep the name of the user.',
  answer: User,
  faults: [...ARCHIVE_FAULTS, 'LAST_ADMINISTRATOR'],
});

export const restoreUser = defineOperation({
  ...turned,
  id: 'identity.restoreUser',
  path: '/identity/users/{id}/restore',
  summary: 'Restore an archived user',
  description:
    'The user has the same memberships, roles and keys as before. The caller must have all access that these grant, or the right role.assign. Sessions are not restored.',
  answer: User,
  faults: [...RESTORE_FAULTS, 'ROLE_ESCALATION'],
});

export const archiveGroup = defineOperation({
  ...turned,
  id: 'identity.archiveGroup',
  path: '/identity/groups/{id}/archive',
  summary: 'Archive a group',
  description: 'Memberships are kept, but grant nothing while the group is archived.',
  answer: Group,
  faults: [...ARCHIVE_FAULTS, 'LAST_ADMINISTRATOR'],
});

export const restoreGroup = defineOperation({
  ...turned,
  id: 'identity.restoreGroup',
  path: '/identity/groups/{id}/restore',
  summary: 'Restore an archived group',
  description:
    'The group grants access to its members again. The caller must have all of that access, as for a new membership, or the right role.assign.',
  answer: Group,
  faults: [...RESTORE_FAULTS, 'ROLE_ESCALATION'],
});

export const archiveUnit = defineOperation({
  ...turned,
  id: 'identity.archiveOrgUnit',
  path: '/identity/org-units/{id}/archive',
  summary: 'Archive an organisation unit',
  description: 'Its members and child units are not changed.',
  answer: OrgUnit,
  faults: ARCHIVE_FAULTS,
});

export const restoreUnit = defineOperation({
  ...turned,
  id: 'identity.restoreOrgUnit',
  path: '/identity/org-units/{id}/restore',
  summary: 'Restore an archived organisation unit',
  description: 'The unit becomes active. Its parent and its members are unchanged.',
  answer: OrgUnit,
  faults: [...RESTORE_FAULTS, 'ROLE_ESCALATION'],
});

const read = { ...shared, method: 'GET', unit: 'read' } as const;

export const listArchived = defineOperation({
  ...read,
  id: 'identity.archived',
  path: '/identity/archived',
  growth: 'held',
  summary: 'List archived users, groups and organisation units',
  description: 'Use the `restore` operation of its kind to restore an item.',
  answer: Type.Object({ users: Type.Array(User), groups: Type.Array(Group), orgUnits: Type.Array(OrgUnit) }),
  faults: ['RIGHT_MISSING'],
});

export const listGroupMembers = defineOperation({
  ...read,
  id: 'identity.groupMembers',
  long: true,
  path: '/identity/group-memberships',
  summary: 'List memberships of groups, oldest first',
  description: 'Filter by group or by member. Members are users and groups.',
  query: closed({ groupId: Type.Optional(Id), memberId: Type.Optional(Id) }),
  answer: Type.Array(GroupMembership),
  faults: ['RIGHT_MISSING'],
});

export const listOrgMembers = defineOperation({
  ...read,
  id: 'identity.orgMembers',
  long: true,
  path: '/identity/org-memberships',
  summary: 'List the members of organisation units, oldest first',
  description: 'Filter by unit. A user is in at most one unit.',
  query: closed({ organizationUnitId: Type.Optional(Id) }),
  answer: Type.Array(OrgMembership),
  faults: ['RIGHT_MISSING'],
});

const removal = { ...shared, method: 'DELETE', unit: 'write', params } as const;

export const removeGroupMember = defineOperation({
  ...removal,
  id: 'identity.removeGroupMember',
  path: '/identity/group-memberships/{id}',
  summary: 'Remove a member from a group',
  description: 'The member loses the access granted by the group within a second. Returns the removed membership.',
  answer: GroupMembership,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ROLE_ESCALATION', 'LAST_ADMINISTRATOR'],
});

export const removeOrgMember = defineOperation({
  ...removal,
  id: 'identity.removeOrgMember',
  path: '/identity/org-memberships/{id}',
  summary: 'Remove a user from the organisation unit',
  description:
    'With `expectedOrganizationUnitId`, the call is rejected if the user is now in another unit. Returns the removed membership.',
  body: closed({ expectedOrganizationUnitId: Type.Optional(Id) }),
  answer: OrgMembership,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ROLE_ESCALATION', 'ORG_UNIT_CONFLICT'],
});

/** What travels for people, groups and units in the administration interface alone (configuration, section 6). */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, nullable, Revision } from '../../contract/schemas.ts';
import { LocaleCode, Name } from '../../mechanisms/config-schemas.ts';
import { Group, GroupMembership, OrgMembership, OrgUnit, User } from './contract.ts';

const Text = Type.String({ minLength: 1, maxLength: 255 });
const params = closed({ id: Id });
const shared = { access: 'console', right: 'user.administer', tag: 'Identity', status: 200 } as const;

const change = { ...shared, method: 'PATCH', unit: 'write', params } as const;
const CHANGE_FAULTS = ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'REVISION_CONFLICT', 'INVALID_VALUES'] as const;
const KEPT = 'What is left out stays as it is, null takes away; values equal to the stored ones change nothing.';

export const changeUser = defineOperation({
  ...change,
  id: 'identity.changeUser',
  path: '/identity/users/{id}',
  summary: 'Change a person',
  description: `${KEPT} The login stays: the configuration names people by it.`,
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
  faults: [...CHANGE_FAULTS, 'ALREADY_EXISTS', 'ROLE_ESCALATION'],
});

export const changeGroup = defineOperation({
  ...change,
  id: 'identity.changeGroup',
  path: '/identity/groups/{id}',
  summary: 'Change a group',
  description: `${KEPT} The code stays: the configuration names groups by it.`,
  body: closed({ expectedRevision: Revision, name: Type.Optional(Name) }),
  answer: Group,
  faults: CHANGE_FAULTS,
});

export const changeUnit = defineOperation({
  ...change,
  id: 'identity.changeOrgUnit',
  path: '/identity/org-units/{id}',
  summary: 'Change an organisation unit',
  description: `${KEPT} The code stays: the configuration names units by it.`,
  body: closed({
    expectedRevision: Revision,
    name: Type.Optional(Name),
    parentId: Type.Optional(nullable(Id)),
    managerUserId: Type.Optional(nullable(Id)),
    location: Type.Optional(nullable(Text)),
  }),
  answer: OrgUnit,
  faults: CHANGE_FAULTS,
});

/** With the revision that the caller saw, or without. */
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
  summary: 'Archive a person',
  description: 'Their keys and sessions stop within a second everywhere; their name stays on what they did.',
  answer: User,
  faults: ARCHIVE_FAULTS,
});

export const restoreUser = defineOperation({
  ...turned,
  id: 'identity.restoreUser',
  path: '/identity/users/{id}/restore',
  summary: 'Take an archived person back',
  description: 'With the memberships, roles and keys that they had; they sign in anew.',
  answer: User,
  faults: RESTORE_FAULTS,
});

export const archiveGroup = defineOperation({
  ...turned,
  id: 'identity.archiveGroup',
  path: '/identity/groups/{id}/archive',
  summary: 'Archive a group',
  description: 'Its members keep the membership and lose what it gave them.',
  answer: Group,
  faults: ARCHIVE_FAULTS,
});

export const restoreGroup = defineOperation({
  ...turned,
  id: 'identity.restoreGroup',
  path: '/identity/groups/{id}/restore',
  summary: 'Take an archived group back',
  description: 'Its members get its roles again, so whoever restores it must hold them or may assign roles.',
  answer: Group,
  faults: [...RESTORE_FAULTS, 'ROLE_ESCALATION'],
});

export const archiveUnit = defineOperation({
  ...turned,
  id: 'identity.archiveOrgUnit',
  path: '/identity/org-units/{id}/archive',
  summary: 'Archive an organisation unit',
  description: 'Its people and the units below stay where they are.',
  answer: OrgUnit,
  faults: ARCHIVE_FAULTS,
});

export const restoreUnit = defineOperation({
  ...turned,
  id: 'identity.restoreOrgUnit',
  path: '/identity/org-units/{id}/restore',
  summary: 'Take an archived organisation unit back',
  answer: OrgUnit,
  faults: RESTORE_FAULTS,
});

const read = { ...shared, method: 'GET', unit: 'read' } as const;

export const listArchived = defineOperation({
  ...read,
  id: 'identity.archived',
  path: '/identity/archived',
  summary: 'List archived people, groups and organisation units',
  answer: Type.Object({ users: Type.Array(User), groups: Type.Array(Group), orgUnits: Type.Array(OrgUnit) }),
  faults: ['RIGHT_MISSING'],
});

export const listGroupMembers = defineOperation({
  ...read,
  id: 'identity.groupMembers',
  path: '/identity/group-memberships',
  summary: 'List memberships of groups, oldest first',
  query: closed({ groupId: Type.Optional(Id), memberId: Type.Optional(Id) }),
  answer: Type.Array(GroupMembership),
  faults: ['RIGHT_MISSING'],
});

export const listOrgMembers = defineOperation({
  ...read,
  id: 'identity.orgMembers',
  path: '/identity/org-memberships',
  summary: 'List who is in which organisation unit, oldest first',
  query: closed({ organizationUnitId: Type.Optional(Id) }),
  answer: Type.Array(OrgMembership),
  faults: ['RIGHT_MISSING'],
});

const removal = { ...shared, method: 'DELETE', unit: 'write', params } as const;

export const removeGroupMember = defineOperation({
  ...removal,
  id: 'identity.removeGroupMember',
  path: '/identity/group-memberships/{id}',
  summary: 'Take a member out of a group',
  answer: GroupMembership,
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const removeOrgMember = defineOperation({
  ...removal,
  id: 'identity.removeOrgMember',
  path: '/identity/org-memberships/{id}',
  summary: 'Take a person out of their organisation unit',
  body: closed({ expectedOrganizationUnitId: Type.Optional(Id) }),
  answer: OrgMembership,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ORG_UNIT_CONFLICT'],
});

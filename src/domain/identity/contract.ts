/** The API contract of users, groups and units in the public API (docs/spec/identity.md). */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, Instant, LocaleCode, Login, nullable, Revision } from '../../contract/schemas.ts';

const Text = Type.String({ minLength: 1, maxLength: 255 });
const Name = Type.String({ minLength: 1, maxLength: 200 });
const OptionalText = Type.Optional(Text);
const State = Type.Union([Type.Literal('ACTIVE'), Type.Literal('ARCHIVED')]);
const Code = Type.String({
  minLength: 1,
  maxLength: 63,
  description: 'A letter, then letters a to z, digits and hyphens. Stored in lower case.',
});

const common = { state: State, revision: Revision, createdAt: Instant, updatedAt: Instant };

export const User = Type.Object(
  {
    id: Id,
    userId: Id,
    login: Type.String(),
    displayName: Type.String(),
    email: nullable(Type.String()),
    locale: nullable(Type.String()),
    timezone: nullable(Type.String()),
    employeeId: nullable(Type.String()),
    externalId: nullable(Type.String()),
    organizationUnitId: nullable(Id),
    ...common,
  },
  { $id: 'User' },
);

export const Group = Type.Object(
  { id: Id, groupId: Id, code: Type.String(), name: Type.String(), ...common },
  { $id: 'Group' },
);

export const OrgUnit = Type.Object(
  {
    id: Id,
    organizationUnitId: Id,
    code: Type.String(),
    name: Type.String(),
    parentId: nullable(Id),
    managerUserId: nullable(Id),
    location: nullable(Type.String()),
    ...common,
  },
  { $id: 'OrganizationUnit' },
);

const MemberType = Type.Union([Type.Literal('user'), Type.Literal('group')]);

export const GroupMembership = Type.Object(
  { id: Id, groupId: Id, memberId: Id, memberType: MemberType },
  { $id: 'GroupMembership' },
);

export const OrgMembership = Type.Object(
  { id: Id, organizationUnitId: Id, userId: Id },
  { $id: 'OrganizationMembership' },
);

const shared = { right: 'user.administer', tag: 'Identity' } as const;
const read = { ...shared, method: 'GET', access: 'identity:read', unit: 'read', status: 200 } as const;
const write = { ...shared, method: 'POST', access: 'identity:write', unit: 'write', status: 201 } as const;

export const listUsers = defineOperation({
  ...read,
  id: 'identity.users',
  long: true,
  replicaSafe: true,
  path: '/identity/users',
  summary: 'List users by name, without archived ones',
  description: 'All active users in one list.',
  answer: Type.Array(User),
  faults: ['RIGHT_MISSING'],
});

export const createUser = defineOperation({
  ...write,
  id: 'identity.createUser',
  path: '/identity/users',
  summary: 'Create a user',
  description:
    'Sets no password and assigns no role. Login and e-mail address are unique regardless of case, and the external id is unique. Archived users count too.',
  body: closed({
    login: Login,
    displayName: Text,
    email: Text,
    userId: Type.Optional(Id),
    locale: Type.Optional(LocaleCode),
    timezone: OptionalText,
    employeeId: OptionalText,
    externalId: OptionalText,
  }),
  answer: User,
  faults: ['RIGHT_MISSING', 'INVALID_VALUES', 'ALREADY_EXISTS'],
});

export const listGroups = defineOperation({
  ...read,
  id: 'identity.groups',
  long: true,
  replicaSafe: true,
  path: '/identity/groups',
  summary: 'List groups by name, without archived ones',
  description: 'All active groups in one list, without their members.',
  answer: Type.Array(Group),
  faults: ['RIGHT_MISSING'],
});

export const createGroup = defineOperation({
  ...write,
  id: 'identity.createGroup',
  path: '/identity/groups',
  summary: 'Create a group without members',
  description: 'The code is unique, also among archived groups. Add members with `POST /identity/group-memberships`.',
  body: closed({ code: Code, name: Name, groupId: Type.Optional(Id) }),
  answer: Group,
  faults: ['RIGHT_MISSING', 'INVALID_VALUES', 'ALREADY_EXISTS'],
});

export const listUnits = defineOperation({
  ...read,
  id: 'identity.orgUnits',
  long: true,
  replicaSafe: true,
  path: '/identity/org-units',
  summary: 'List organisation units by name, without archived ones',
  description: 'All active units in one list; `parentId` is the unit above.',
  answer: Type.Array(OrgUnit),
  faults: ['RIGHT_MISSING'],
});

export const createUnit = defineOperation({
  ...write,
  id: 'identity.createOrgUnit',
  path: '/identity/org-units',
  summary: 'Create an organisation unit',
  description: 'Without `code`, a code is derived from the name.',
  body: closed({
    name: Name,
    code: Type.Optional(Code),
    organizationUnitId: Type.Optional(Id),
    parentId: Type.Optional(Id),
    managerUserId: Type.Optional(Id),
    location: OptionalText,
  }),
  answer: OrgUnit,
  faults: ['RIGHT_MISSING', 'INVALID_VALUES', 'ALREADY_EXISTS'],
});

export const addGroupMember = defineOperation({
  ...write,
  id: 'identity.addGroupMember',
  path: '/identity/group-memberships',
  summary: 'Add a user or a group to a group',
  description:
    'The caller must already have everything that the membership grants: the roles of the group and of the groups that contain it, access by row conditions with $myGroups, and audiences. A caller has it as a member of the group, through a role whose `memberships` name the group, or with the right role.assign. Only callers with role.assign can change their own memberships. An existing membership is returned unchanged.',
  body: closed({ groupId: Id, memberId: Id, memberType: Type.Optional(MemberType) }),
  answer: GroupMembership,
  faults: ['RIGHT_MISSING', 'ROLE_ESCALATION', 'ARCHIVED', 'GROUP_CYCLE'],
});

export const setOrgMember = defineOperation({
  ...write,
  id: 'identity.setOrgMember',
  path: '/identity/org-memberships',
  summary: 'Put a user into an organisation unit, or move the user',
  description:
    'A user is in at most one unit. `expectedOrganizationUnitId` is the unit that the user is in now; without it, or with null, the user must be in none. If the user is in the unit already, nothing changes. The caller must already have everything that the unit grants, as for a membership of a group.',
  body: closed({
    organizationUnitId: Id,
    userId: Id,
    expectedOrganizationUnitId: Type.Optional(nullable(Id)),
  }),
  answer: OrgMembership,
  faults: ['RIGHT_MISSING', 'ROLE_ESCALATION', 'ARCHIVED', 'ORG_UNIT_CONFLICT'],
});

import { bind, type Binding } from '../../platform/module.ts';
import * as groups from './commands-groups.ts';
import * as units from './commands-units.ts';
import * as users from './commands-users.ts';
import * as contract from './contract.ts';
import * as admin from './contract-admin.ts';
import * as queries from './queries.ts';
import type { Localized } from '../../contract/schemas.ts';

export const identityRoutes: readonly Binding[] = [
  bind(contract.listUsers, (ctx) => queries.listUsers(ctx)),
  bind(contract.createUser, (ctx, { body }) => users.createUser(ctx, body)),
  bind(admin.changeUser, (ctx, { params, body }) => users.updateUser(ctx, { ...body, userId: params.id })),
  bind(admin.archiveUser, (ctx, { params, body }) => users.archiveUser(ctx, params.id, body.expectedRevision)),
  bind(admin.restoreUser, (ctx, { params, body }) => users.restoreUser(ctx, params.id, body.expectedRevision)),
  bind(contract.listGroups, (ctx) => queries.listGroups(ctx)),
  bind(contract.createGroup, (ctx, { body }) => groups.createGroup(ctx, body)),
  bind(admin.changeGroup, (ctx, { params, body }) =>
    groups.updateGroup(ctx, { ...body, name: body.name as Localized | undefined, groupId: params.id }),
  ),
  bind(admin.archiveGroup, (ctx, { params, body }) => groups.archiveGroup(ctx, params.id, body.expectedRevision)),
  bind(admin.restoreGroup, (ctx, { params, body }) => groups.restoreGroup(ctx, params.id, body.expectedRevision)),
  bind(contract.listUnits, (ctx) => queries.listUnits(ctx)),
  bind(contract.createUnit, (ctx, { body }) => units.createUnit(ctx, body)),
  bind(admin.changeUnit, (ctx, { params, body }) =>
    units.updateUnit(ctx, { ...body, name: body.name as Localized | undefined, organizationUnitId: params.id }),
  ),
  bind(admin.archiveUnit, (ctx, { params, body }) => units.archiveUnit(ctx, params.id, body.expectedRevision)),
  bind(admin.restoreUnit, (ctx, { params, body }) => units.restoreUnit(ctx, params.id, body.expectedRevision)),
  bind(contract.addGroupMember, (ctx, { body }) => groups.addGroupMember(ctx, body)),
  bind(admin.listGroupMembers, (ctx, { query }) => queries.listGroupMembers(ctx, query)),
  bind(admin.removeGroupMember, (ctx, { params }) => groups.removeGroupMember(ctx, params.id)),
  bind(contract.setOrgMember, (ctx, { body }) => groups.setOrgMember(ctx, body)),
  bind(admin.listOrgMembers, (ctx, { query }) => queries.listOrgMembers(ctx, query)),
  bind(admin.removeOrgMember, (ctx, { params, body }) =>
    groups.removeOrgMember(ctx, params.id, body.expectedOrganizationUnitId),
  ),
  bind(admin.listArchived, (ctx) => queries.listArchived(ctx)),
];

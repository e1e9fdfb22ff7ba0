import { defineModule } from '../module.ts';
import { groupsSection, orgUnitsSection, usersSection } from './config.ts';
import { identityChecks } from './health.ts';
import { identityRoutes } from './routes.ts';

export const identity = defineModule({
  name: 'identity',
  // Names of groups and units are shown in the configuration's default locale. A membership may admit its member to articles.
  dependsOn: ['knowledge', 'metadata'],
  tables: {
    users: 'Each change is in the audit log, by call or by bundle.',
    groups: 'Each change is in the audit log, by call or by bundle.',
    org_units: 'Each change is in the audit log, by call or by bundle.',
    group_members: 'Each change is in the audit log, by call or by bundle.',
    org_members: 'Each change is in the audit log, by call or by bundle.',
  },
  operations: identityRoutes,
  sections: [usersSection, groupsSection, orgUnitsSection],
  checks: identityChecks,
  constraints: {
    users_login: { code: 'ALREADY_EXISTS', field: 'login' },
    users_email: { code: 'ALREADY_EXISTS', field: 'email' },
    users_external_id: { code: 'ALREADY_EXISTS', field: 'externalId' },
    groups_code: { code: 'ALREADY_EXISTS', field: 'code' },
    org_units_code: { code: 'ALREADY_EXISTS', field: 'code' },
  },
});

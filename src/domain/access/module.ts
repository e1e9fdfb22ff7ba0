import { people } from '../../platform/module.ts';
import { counter } from '../../platform/observability/gauges.ts';
import { defineModule } from '../module.ts';
import { anonymousActor, systemCaller } from './actor.ts';
import { rolesSection } from './config.ts';
import { administratorFollower, sessionFollower } from './follow.ts';
import { accessImpact } from './impact.ts';
import { accessTasks } from './jobs.ts';
import { oidcPages } from './oidc.ts';
import { authenticator } from './parts.ts';
import { accessRoutes } from './routes.ts';

const CACHE = 'docket_rights_cache_total';
const CACHE_HELP = 'Lookups of keys and rights: from the cache (hit) or from the database (miss).';

export const access = defineModule({
  name: 'access',
  // Rights on a record are explained with its title.
  dependsOn: ['identity', 'metadata', 'objects'],
  tables: {
    role_assignments: 'Each change is in the audit log with the role that it belongs to.',
    api_keys: 'Only hashes; each creation, rotation and revocation is in the audit log.',
    sessions: 'Only hashes, for 12 hours.',
    sign_in_attempts: 'Counters of failed sign-ins of the last minutes.',
    sign_in_origins: 'Addresses and devices of earlier sign-ins. They relax limits but give no access.',
  },
  operations: accessRoutes,
  sections: [rolesSection],
  followers: ({ settings }) => [sessionFollower, administratorFollower(settings.oidc !== undefined)],
  tasks: accessTasks,
  pages: oidcPages,
  impact: [accessImpact],
  gauges: ({ get }) => {
    const { hits, misses } = get(authenticator).memory;
    return [
      { ...counter(CACHE, CACHE_HELP, hits), labels: { result: 'hit' } },
      { ...counter(CACHE, CACHE_HELP, misses), labels: { result: 'miss' } },
    ];
  },
  provides: [
    people.by(({ get }) => ({
      actorOf: (userId) => get(authenticator).actorOf(userId),
      actorsOf: (userIds) => get(authenticator).actorsOf(userIds),
      anonymousActor,
      systemCaller,
    })),
  ],
});

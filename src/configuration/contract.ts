/**
 * Operations and schemas of the configuration endpoints in the administration API
 * (docs/spec/configuration.md#administration-api).
 */
import Type from 'typebox';
import { defineOperation } from '../contract/operation.ts';
import { MetaSchema } from '../contract/envelope.ts';
import { pagingQuery } from '../contract/paging.ts';
import { closed, Id, Instant, nullable, oneOf } from '../contract/schemas.ts';
import { differenceProperties, ImpactSchema, PlannedChanges, PlannedItems } from './contract-plan.ts';

const ItemName = Type.String({ minLength: 1, maxLength: 255 });

const bundleProperties = {
  files: Type.Array(
    closed({
      name: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^/\\\\]+\\.ya?ml$' }),
      text: Type.String({ maxLength: 8_000_000 }),
    }),
    { maxItems: 1000, description: 'May be empty with `archive` and without `prune`.' },
  ),
  prune: Type.Optional(
    Type.Boolean({
      description:
        'Archives items that the files do not contain. Refused with the cause `PRUNE_OF_PART` for items of a section that no file names.',
    }),
  ),
  pruneIdentity: Type.Optional(Type.Boolean()),
  exact: Type.Optional(
    Type.Boolean({
      description:
        'If true, the memberships and assignments of the items in the bundle are replaced by those in the bundle. Otherwise they are only added.',
    }),
  ),
  archive: Type.Optional(
    Type.Array(closed({ section: ItemName, code: ItemName }), {
      maxItems: 1000,
      description: 'Items to archive. The files must not contain them.',
    }),
  ),
  discard: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
      maxItems: 1000,
      description:
        'Fields, options and states that may go, with the values that records hold: `types.incident.impact`, `types.incident.impact.high`, `workflows.incident.waiting`. A plan ignores it.',
    }),
  ),
};

export const BundleFiles = closed(bundleProperties);

const Version = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

const ApplyFiles = closed({
  ...bundleProperties,
  expected: Type.Optional({
    ...Version,
    description:
      '`meta.configVersion` of the plan, export or item that the bundle is based on. If the configuration has another version now, nothing is applied: 409 `CONFIGURATION_CHANGED` with the sections that changed.',
  }),
});

const PlanFiles = closed({
  ...bundleProperties,
  impact: Type.Optional(
    Type.Boolean({
      description:
        'If true, `meta.impact` says what the plan does to records and users. Counts over all records need the right `role.assign`; without it only records that the caller may read are counted.',
    }),
  ),
});

/** The configuration version in `meta`. */
const VersionMeta = Type.Object(
  {
    ...MetaSchema.properties,
    configVersion: Type.Integer({
      minimum: 1,
      description:
        'The version of the configuration. Every change of what a bundle holds raises it, except changes of users, groups and orgUnits.',
      examples: [42],
    }),
  },
  { $id: 'ConfigVersionMeta' },
);

const PlanMeta = Type.Object({ ...VersionMeta.properties, impact: Type.Optional(ImpactSchema) }, { $id: 'PlanMeta' });

const shared = { access: 'console', right: 'config.manage', tag: 'Configuration' } as const;

export const listSection = defineOperation({
  ...shared,
  id: 'config.list',
  method: 'GET',
  path: '/config/{section}',
  growth: 'few',
  unit: 'snapshot',
  status: 200,
  summary: 'List the items of a section of the configuration',
  description:
    'Ids, codes and names of all items of a section of the bundle. Sections whose items have endpoints of their own need the right of these endpoints too: `user.administer` for users, groups and orgUnits, `webhook.manage` for webhooks and signingSecrets, `integration.manage`, `import.manage`.',
  params: closed({ section: Type.String({ minLength: 1, maxLength: 64 }) }),
  query: closed({
    include: Type.Optional(
      Type.String({
        pattern: '^(updatedAt|changedBy|usedBy)(,(updatedAt|changedBy|usedBy)){0,2}$',
        description:
          'Separated by commas: `updatedAt` and `changedBy` add the last change to each item, `usedBy` the items that refer to it.',
      }),
    ),
  }),
  answer: Type.Array(
    Type.Object(
      {
        id: Id,
        code: Type.String(),
        name: Type.Unknown(),
        state: Type.String(),
        updatedAt: Type.Optional(
          nullable({ ...Instant, description: 'Time of the last change, with `include=updatedAt`.' }),
        ),
        changedBy: Type.Optional(
          nullable(
            Type.Object(
              { id: Id, displayName: Type.String() },
              { description: 'With `include=changedBy`: who changed the item last; null for the service itself.' },
            ),
          ),
        ),
        usedBy: Type.Optional(
          Type.Object(
            {
              count: Type.Integer({ minimum: 0 }),
              items: Type.Array(
                Type.Object({ id: Id, section: Type.String(), code: Type.String(), name: Type.Unknown() }),
              ),
            },
            {
              description:
                'With `include=usedBy`: the active items that refer to this one, in sections that the caller may read; at most 50 are named.',
            },
          ),
        ),
      },
      { $id: 'ConfigItem' },
    ),
  ),
  meta: VersionMeta,
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const readItem = defineOperation({
  ...shared,
  id: 'config.item',
  method: 'GET',
  path: '/config/{section}/{code}',
  growth: 'whole',
  unit: 'snapshot',
  status: 200,
  summary: 'Read one item of the configuration',
  description:
    '`text` is the item in YAML, as in an exported bundle. `definition` is the item with all defaults filled in. Needs the same rights as the list of the section. The holders of a role are shown only to callers with `user.administer` or `role.assign`.',
  params: closed({ section: Type.String({ minLength: 1, maxLength: 64 }), code: ItemName }),
  answer: Type.Object(
    {
      id: Id,
      code: Type.String(),
      state: Type.String(),
      text: Type.String(),
      definition: Type.Unknown(),
    },
    { $id: 'ConfigItemText' },
  ),
  meta: VersionMeta,
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const plan = defineOperation({
  ...shared,
  id: 'config.plan',
  method: 'POST',
  path: '/config/plan',
  unit: 'own',
  dryRun: false,
  status: 200,
  summary: 'Preview what applying a bundle would change',
  description:
    'Needs the right `user.administer` where the bundle names or prunes users, groups or orgUnits, and for other sections with endpoints of their own (webhooks, signingSecrets, integrations, importDefinitions) the right of these endpoints where something changes.',
  body: PlanFiles,
  answer: PlannedChanges,
  meta: PlanMeta,
  faults: ['RIGHT_MISSING', 'NOT_FOUND', 'CODE_NOT_REUSABLE'],
  timeoutMs: 300_000,
});

export const apply = defineOperation({
  ...shared,
  id: 'config.apply',
  method: 'POST',
  path: '/config/apply',
  unit: 'write',
  idempotent: true,
  status: 200,
  summary: 'Apply a bundle in one transaction',
  description:
    'Needs the rights of the plan, and for each change the rights of its endpoint: `role.assign` to change roles, their assignments, and connections that run as another user. For users, groups and organisation units the rules of the identity endpoints hold.',
  body: ApplyFiles,
  answer: PlannedItems,
  meta: VersionMeta,
  faults: [
    'RIGHT_MISSING',
    'NOT_FOUND',
    'ROLE_ESCALATION',
    'ALREADY_EXISTS',
    'LAST_ADMINISTRATOR',
    'CONFIGURATION_CHANGED',
    'CODE_NOT_REUSABLE',
    'VALUES_WOULD_BE_LOST',
    'STATE_IN_USE',
  ],
  timeoutMs: 300_000,
});

export const schema = defineOperation({
  id: 'config.schema',
  method: 'GET',
  path: '/config/schema',
  growth: 'few',
  access: 'open',
  surface: 'console',
  unit: 'read',
  status: 200,
  tag: 'Configuration',
  summary: 'Read the JSON Schema of the bundle',
  description:
    'Draft 07, for editors: the first line of a file, `# yaml-language-server: $schema=URL`, names it. The same for every service of a version; it contains nothing of the configuration.',
  answer: Type.Unknown(),
  raw: { mediaTypes: ['application/schema+json'] },
  faults: [],
});

export const exported = defineOperation({
  ...shared,
  id: 'config.export',
  method: 'GET',
  path: '/config/export',
  growth: 'whole',
  unit: 'snapshot',
  status: 200,
  summary: 'Export the present configuration as a bundle',
  query: closed({
    identity: Type.Optional(Type.Boolean({ default: false })),
    section: Type.Optional(
      Type.String({
        pattern: '^[a-zA-Z]+(,[a-zA-Z]+)*$',
        maxLength: 1000,
        description: 'Only these sections, separated by commas.',
      }),
    ),
  }),
  description:
    'With `identity` also users, groups, organisation units, memberships and role assignments, which needs the right `user.administer`. Sections with a right of their own (`webhook.manage`, `integration.manage`, `import.manage`) are left out for callers without it.',
  answer: Type.Object({
    files: Type.Array(Type.Object({ name: Type.String(), text: Type.String() })),
    leftOut: Type.Array(Type.String(), {
      description: 'Names of the sections that were left out because the caller may not read them.',
    }),
  }),
  meta: VersionMeta,
  faults: ['RIGHT_MISSING', 'NOT_FOUND'],
});

const VersionAction = oneOf(['create', 'change', 'archive', 'restore']);

const versionProperties = {
  version: Version,
  at: Instant,
  by: nullable(
    Type.Object({ id: Id, displayName: Type.String() }, { description: 'Null for the service and the command line.' }),
  ),
};

export const listConfigVersions = defineOperation({
  ...shared,
  id: 'config.versions',
  method: 'GET',
  path: '/config/versions',
  unit: 'snapshot',
  status: 200,
  summary: 'List the versions of the configuration, newest first',
  description:
    'Every change of what a bundle holds, by an apply or a call, makes a version, except changes of users, groups and orgUnits. Versions are never deleted. The first version holds the configuration as it was when the history began. Items of sections that the caller may not read are left out.',
  query: closed(pagingQuery),
  answer: Type.Object({
    current: Type.Integer({ minimum: 1, description: 'The current version.' }),
    rows: Type.Array(
      Type.Object(
        {
          ...versionProperties,
          sections: Type.Array(Type.String()),
          summary: Type.Object(
            {
              create: Type.Integer(),
              change: Type.Integer(),
              archive: Type.Integer(),
              restore: Type.Integer(),
            },
            { description: 'Numbers of items.' },
          ),
          items: Type.Array(Type.Object({ section: Type.String(), code: Type.String(), action: VersionAction }), {
            description: 'At most 50.',
          }),
        },
        { $id: 'ConfigVersion' },
      ),
    ),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
  }),
  faults: ['RIGHT_MISSING'],
});

export const readConfigVersion = defineOperation({
  ...shared,
  id: 'config.version',
  method: 'GET',
  path: '/config/versions/{version}',
  growth: 'whole',
  unit: 'snapshot',
  status: 200,
  summary: 'Export the configuration as it was at a version',
  description:
    'A bundle like that of `GET /config/export`, with an empty list for each section that had no items. To go back to the version, plan and apply the files with `prune`: all checks and rights of an apply hold. Users, groups, orgUnits, memberships and role assignments have no versions.',
  params: closed({ version: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) }),
  answer: Type.Object(
    {
      ...versionProperties,
      files: Type.Array(Type.Object({ name: Type.String(), text: Type.String() })),
      leftOut: Type.Array(Type.String(), {
        description: 'Names of the sections that were left out because the caller may not read them.',
      }),
    },
    { $id: 'ConfigVersionBundle' },
  ),
  faults: ['RIGHT_MISSING', 'NOT_FOUND'],
});

export const diffConfigVersions = defineOperation({
  ...shared,
  id: 'config.diff',
  method: 'GET',
  path: '/config/diff',
  growth: 'few',
  unit: 'snapshot',
  status: 200,
  summary: 'Compare two versions of the configuration',
  description:
    'The items that differ, with old and new values. `from` may be the newer version. Sections that the caller may not read are left out.',
  query: closed({ from: Version, to: Version }),
  answer: Type.Array(
    Type.Object(
      { section: Type.String(), code: Type.String(), id: Id, action: VersionAction, ...differenceProperties },
      { $id: 'ConfigVersionDifference' },
    ),
  ),
  faults: ['RIGHT_MISSING', 'NOT_FOUND'],
});

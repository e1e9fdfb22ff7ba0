/** The API contract of the console's desk: what the caller may do, names for ids, and saved queues. */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { pagingQuery } from '../../contract/paging.ts';
import { closed, Id, IdOrCode, Instant, nullable, Revision } from '../../contract/schemas.ts';
import { ObjectSchema } from '../objects/index.ts';

export const BUILT_IN_QUEUES = ['mine', 'unassigned', 'my-groups', 'overdue', 'waiting', 'closed'] as const;

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const tag = 'Desk';
const console = { access: 'console', tag } as const;

const DeskType = Type.Object(
  {
    id: Id,
    code: Type.String(),
    name: Type.String(),
    plural: Type.String({ description: 'The name of a list of records; the name of the type if it has no plural.' }),
    category: Type.Union([Type.Literal('object'), Type.Literal('dictionary')]),
    canRead: Type.Boolean(),
    canCreate: Type.Boolean(),
    canUpdate: Type.Boolean(),
    canArchive: Type.Boolean(),
    canTransition: Type.Boolean(),
    canAttach: Type.Boolean(),
    titleField: nullable(Type.String()),
    numbered: Type.Boolean(),
    description: nullable(Type.String()),
    layout: Type.Array(
      Type.Object({ name: nullable(Type.String()), columns: Type.Integer(), fields: Type.Array(Type.String()) }),
      { description: 'Sections of the record form, with the fields that the caller may ever read.' },
    ),
    states: Type.Array(
      Type.Object({
        id: Id,
        code: Type.String(),
        name: Type.String(),
        category: Type.Union([Type.Literal('open'), Type.Literal('waiting'), Type.Literal('done')]),
      }),
    ),
    slaPolicies: Type.Array(Type.Object({ code: Type.String(), name: Type.String() })),
  },
  { $id: 'DeskType', description: 'A record type with the actions that at least one grant of the caller allows.' },
);

export const listDeskTypes = defineOperation({
  ...console,
  id: 'desk.types',
  method: 'GET',
  path: '/desk/types',
  growth: 'few',
  unit: 'read',
  status: 200,
  summary: 'List record types with what the caller may do',
  description:
    'For each type: the states of its workflow, its SLA policies, the layout of its form, and whether at least one grant of the caller allows reading, creating, changing, archiving and transitions.',
  answer: Type.Array(DeskType),
  faults: [],
});

export const getPermissions = defineOperation({
  ...console,
  id: 'desk.permissions',
  method: 'GET',
  path: '/objects/{objectId}/permissions',
  growth: 'record',
  right: 'read',
  unit: 'read',
  status: 200,
  summary: 'Read what the caller may do on one record',
  description: 'The actions of all grants whose condition the record meets now.',
  params: closed({ objectId: Id }),
  answer: Type.Object({ id: Id, actions: Type.Array(Type.String()) }, { $id: 'RecordPermissions' }),
  faults: ['NOT_FOUND'],
});

const NamedKind = Type.Union([Type.Literal('user'), Type.Literal('group'), Type.Literal('org-unit')]);

export const lookUp = defineOperation({
  ...console,
  id: 'desk.lookup',
  method: 'GET',
  path: '/desk/lookup',
  growth: 'page',
  right: 'user.administer',
  unit: 'read',
  status: 200,
  summary: 'Find users, groups or units by name',
  description:
    'For callers who may read or write a field of that data type on some record, or hold user.administer. `login` and `email` are returned for users who share their name with another active user, and always for callers with user.administer. `unit` is returned for callers who may look up units.\n\nWith `field` and `objectId` or `typeId`, users for this field of the record, or of a new record of the type: for a field that accepts only users who can work on the record, those whom a change of the field would accept as the record is now; for a new record, users of the desk who work on some records of the type, and others who work on all of them. All other fields take any active user. The rights of at most 1,000 users are read for one answer.',
  query: closed({
    kind: NamedKind,
    q: Type.Optional(Type.String({ maxLength: 200 })),
    objectId: Type.Optional(Id),
    typeId: Type.Optional(IdOrCode),
    field: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    ids: Type.Optional(
      Type.String({
        pattern: `^${UUID}(,${UUID}){0,19}$`,
        description: 'Only these users, at most 20 ids separated by commas.',
      }),
    ),
  }),
  answer: Type.Array(
    Type.Object(
      {
        id: Id,
        name: Type.String(),
        login: Type.Optional(Type.String()),
        email: Type.Optional(nullable(Type.String())),
        unit: Type.Optional(Type.String({ description: "Name of the user's organisation unit." })),
      },
      { $id: 'Choice' },
    ),
  ),
  faults: ['RIGHT_MISSING', 'NOT_FOUND'],
});

export const getLabels = defineOperation({
  ...console,
  id: 'desk.labels',
  method: 'GET',
  path: '/desk/labels',
  growth: 'page',
  unit: 'snapshot',
  status: 200,
  summary: 'Look up the names of ids',
  description: 'Ids that do not exist, or that the caller may not see, are left out.',
  query: closed({
    ids: Type.String({
      minLength: 36,
      maxLength: 7400,
      pattern: `^${UUID}(,${UUID}){0,199}$`,
      description: 'Separated by commas.',
    }),
  }),
  answer: Type.Array(
    Type.Object(
      {
        id: Id,
        kind: Type.String({ description: 'user, group, org-unit, service or object' }),
        name: nullable(Type.String()),
        number: Type.Optional(nullable(Type.String())),
        typeCode: Type.Optional(Type.String()),
      },
      { $id: 'Label' },
    ),
  ),
  faults: [],
});

const Sort = Type.String({ pattern: '^-?[A-Za-z][A-Za-z0-9_.]{0,63}$', description: 'By default -createdAt.' });
const SlaFilter = Type.String({
  pattern: '^(overdue|today|[1-9][0-9]{0,2}h)$',
  description: '`overdue`, or due `today` or within hours, for example `4h`.',
});
const TIME = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,3})?Z';
const DoneFilter = Type.String({
  pattern: `^(-|(${TIME})?\\.\\.(${TIME})?)$`,
  description:
    'Records that were done from a time until before another, `FROM..UNTIL` in UTC, each optional; `-`: records that are not done. Only records whose history the caller may read are done, as in reports.',
});
const PolicyFilter = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id or code of an SLA policy that has an instance on the record; `-`: records without SLA instances.',
});
const Ref = Type.Object({ id: Id, name: Type.String() });
const Milliseconds = nullable(Type.Integer());

const SlaFigures = Type.Object(
  {
    policyName: nullable(Type.String()),
    dueAt: nullable(Instant),
    remainingMs: Milliseconds,
    targetMs: Milliseconds,
    paused: Type.Boolean(),
    warned: Type.Boolean({ description: 'Whether a warning threshold of the policy was reached.' }),
    breached: Type.Boolean(),
    workingTime: Type.Boolean({
      description: 'True if the calendar is not open around the clock, so that durations are working time.',
    }),
  },
  {
    $id: 'SlaFigures',
    description:
      'The running SLA instance of a record that is due next. If none is running, the times are null and `breached` is true if any instance was breached.',
  },
);

const DeskRow = Type.Object(
  {
    ...ObjectSchema.properties,
    sla: nullable(SlaFigures),
    assignee: nullable(Ref),
    group: nullable(Ref),
    requester: nullable(Ref),
    unread: Type.Boolean({ description: 'Whether the caller has unread notifications of the record.' }),
  },
  {
    $id: 'DeskRow',
    description:
      'A record with its time limit, and the names in its fields `assignee`, `assignmentGroup` and `requester`.',
  },
);

/** Which records a list has, and in which order. */
export const listSelection = {
  q: Type.Optional(Type.String({ maxLength: 4000 })),
  typeId: Type.Optional(IdOrCode),
  state: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  filter: Type.Optional(Type.String({ minLength: 1, maxLength: 100_000, description: 'A condition, as JSON.' })),
  sla: Type.Optional(SlaFilter),
  done: Type.Optional(DoneFilter),
  slaPolicy: Type.Optional(PolicyFilter),
  sort: Type.Optional(Sort),
};

export const listDeskObjects = defineOperation({
  ...console,
  id: 'desk.objects',
  replicaSafe: true,
  method: 'GET',
  path: '/desk/objects',
  unit: 'own',
  status: 200,
  summary: 'List records in any order',
  description:
    '`sort` is a field of the type given by `typeId` (without it, a field of GET /desk/fields), or `number`, `title`, `typeCode`, `workflowState`, `revision`, `createdAt`, `createdBy`, `updatedAt`, `updatedBy`, `sla.dueAt`, `sla.remaining`; `-` in front sorts descending. Records with equal values are sorted by id. Records without a value, or with a value that the caller may not read, come last. Options are sorted by their configured order; users, groups and units by name. `state` and `q` work as in `GET /objects`; `q` selects at most the 1,000 newest matches. At most 5,000 records with a running time limit can be sorted by `sla.remaining`.',
  query: closed({ ...listSelection, ...pagingQuery }),
  answer: Type.Object({
    rows: Type.Array(DeskRow),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
    total: Type.Integer(),
    totalExact: Type.Boolean({ description: 'When false, `total` is a lower estimate.' }),
    names: Type.Array(Ref, {
      description: 'Names of the users, groups and units that occur in the values of the rows.',
    }),
  }),
  faults: ['INVALID_FILTER', 'FILTER_TOO_EXPENSIVE'],
});

const QueueDefinition = closed({
  type: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Id or code of a record type.' })),
  state: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  q: Type.Optional(Type.String({ maxLength: 200 })),
  filter: Type.Optional(
    Type.Unknown({
      description: 'A condition. Variables such as $me, $myGroups and $today can be used as values.',
    }),
  ),
  sort: Type.Optional(Sort),
  sla: Type.Optional(SlaFilter),
  done: Type.Optional(DoneFilter),
  slaPolicy: Type.Optional(PolicyFilter),
  columns: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 40 })),
});

const Queue = Type.Object(
  {
    id: Id,
    name: Type.String(),
    shared: Type.Boolean(),
    group: nullable(Ref),
    owner: Type.Object({ id: Id, displayName: Type.String() }),
    mayChange: Type.Boolean(),
    definition: QueueDefinition,
    revision: Revision,
    updatedAt: Instant,
  },
  { $id: 'Queue' },
);

const queueParams = closed({ queueId: Id });
const Name = Type.String({ minLength: 1, maxLength: 100 });

export const listQueues = defineOperation({
  ...console,
  id: 'desk.queues.list',
  method: 'GET',
  path: '/desk/queues',
  growth: 'few',
  unit: 'snapshot',
  status: 200,
  summary: "List the caller's own and shared queues",
  description: 'Shared queues that name a type or a field that the caller can never read are left out.',
  answer: Type.Array(Queue),
  faults: [],
});

export const listBuiltInQueues = defineOperation({
  ...console,
  id: 'desk.queues.built-in',
  method: 'GET',
  path: '/desk/queues/built-in',
  growth: 'few',
  unit: 'own',
  status: 200,
  summary: 'List the queues that every user has, with counts',
  description:
    'Unfinished records assigned to the caller (`mine`), to the groups of the caller (`my-groups`), and those of these groups without an assignee (`unassigned`); `overdue` records; records in a `waiting` state; records `closed` in the last seven days. They use the fields `assignee` and `assignmentGroup`, and the categories of states. Counting stops at 99. A queue is left out if no type that the caller may read has its fields, or if it is about groups and the caller is in none.',
  answer: Type.Array(
    Type.Object(
      {
        code: Type.Union(BUILT_IN_QUEUES.map((code) => Type.Literal(code))),
        count: nullable(Type.Integer({ minimum: 0, description: 'Null if the records could not be counted in time.' })),
        exact: Type.Boolean({ description: 'If false, there are more than `count`.' }),
        definition: QueueDefinition,
      },
      { $id: 'BuiltInQueue' },
    ),
  ),
  faults: [],
});

export const streamQueues = defineOperation({
  ...console,
  id: 'desk.queues.stream',
  method: 'GET',
  path: '/desk/queues/stream',
  growth: 'stream',
  unit: 'own',
  status: 200,
  summary: 'Follow the counts of the queues that every user has',
  description:
    'A stream of server-sent events. The event `queues` has as its data what GET /desk/queues/built-in returns in `data`. It is sent once at the beginning, and then when the counts of the caller differ from those sent last, at most once a second; counts that take long to compute are sent less often. Changes of records that the caller may not read send nothing. A comment line is sent every 15 s. The stream ends when the key or session ends, when the service stops, and after 30 to 38 minutes; open a new one then. One caller may have 8 streams in each process of the service, above that 429 `RATE_LIMITED`; a process has at most 2,000, above that 503 `OVERLOADED`.',
  answer: Type.String({ description: 'Server-sent events.' }),
  raw: { mediaTypes: ['text/event-stream'] },
  faults: ['OVERLOADED'],
});

export const createQueue = defineOperation({
  ...console,
  id: 'desk.queues.create',
  method: 'POST',
  path: '/desk/queues',
  unit: 'write',
  status: 201,
  summary: 'Save a queue',
  description:
    'The members of the group `groupId` see the queue; a shared one is for everybody and has no group. Members may share queues with their group. All other sharing needs the right config.manage.',
  body: closed({
    name: Name,
    shared: Type.Boolean(),
    groupId: Type.Optional(nullable(Id)),
    definition: QueueDefinition,
  }),
  answer: Queue,
  faults: ['RIGHT_MISSING', 'INVALID_FILTER'],
});

export const changeQueue = defineOperation({
  ...console,
  id: 'desk.queues.change',
  method: 'PATCH',
  path: '/desk/queues/{queueId}',
  unit: 'write',
  status: 200,
  summary: 'Change a queue',
  description:
    'Omitted properties keep their values. A private queue can be changed by its owner, a shared one by callers with the right config.manage.',
  params: queueParams,
  body: closed({
    expectedRevision: Revision,
    name: Type.Optional(Name),
    shared: Type.Optional(Type.Boolean()),
    groupId: Type.Optional(nullable(Id)),
    definition: Type.Optional(QueueDefinition),
  }),
  answer: Queue,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'REVISION_CONFLICT', 'INVALID_FILTER'],
});

export const deleteQueue = defineOperation({
  ...console,
  id: 'desk.queues.delete',
  method: 'DELETE',
  path: '/desk/queues/{queueId}',
  unit: 'write',
  status: 200,
  summary: 'Delete a queue',
  description:
    'A private queue can be deleted by its owner, a shared one by callers with the right config.manage. Records are not changed.',
  params: queueParams,
  body: closed({ expectedRevision: Revision }),
  ifMatch: true,
  answer: Type.Object({ id: Id }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'REVISION_CONFLICT'],
});

const counted = { waiting: Type.Integer({ minimum: 0 }), oldestAt: nullable(Instant) };

export const getBacklog = defineOperation({
  ...console,
  id: 'health.backlog',
  method: 'GET',
  path: '/health/backlog',
  growth: 'few',
  right: 'config.manage',
  unit: 'read',
  status: 200,
  summary: 'Read how much background work is waiting',
  description:
    'Events that are not processed yet, webhook deliveries that are due or scheduled, and SLA timers that have expired. Each is counted up to `limit`.',
  answer: Type.Object(
    {
      limit: Type.Integer(),
      outbox: Type.Object(counted),
      deliveries: Type.Object({ ...counted, later: Type.Integer({ minimum: 0 }) }),
      timers: Type.Object(counted),
    },
    { $id: 'Backlog' },
  ),
  faults: ['RIGHT_MISSING'],
});

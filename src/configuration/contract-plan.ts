/** Schemas of plans: the planned items with their differences, and the impact. */
import Type, { type Static, type TUnsafe } from 'typebox';
import type { PlanNote } from '../lib/problem.ts';
import type { Action } from './section.ts';
import { Id, Instant, nullable, oneOf } from '../contract/schemas.ts';

const PlanNotes = Type.Array(
  Type.Object(
    {
      reason: Type.String({ description: 'Code of the note, such as `FIELD_REMOVED`.' }),
      params: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'The values in the message.' })),
      message: Type.String(),
    },
    { $id: 'PlanNote' },
  ),
) as unknown as TUnsafe<PlanNote[]>;

const plannedProperties = {
  section: Type.String(),
  code: Type.String(),
  id: Type.Union([Id, Type.Null()]),
  action: Type.String({ description: 'create, change, leave, archive or restore' }) as unknown as TUnsafe<Action>,
  version: Type.Optional(
    Type.Object(
      {
        from: Type.Integer(),
        to: Type.Integer(),
        compatible: Type.Boolean(),
        reasons: Type.Array(Type.String(), { description: 'The messages of `notes`.' }),
        notes: PlanNotes,
      },
      { description: 'For a record type: whether stored records are compatible with the new version, and why.' },
    ),
  ),
  note: Type.Optional(Type.String({ description: 'The messages of `notes`, separated by "; ".' })),
  notes: Type.Optional(PlanNotes),
  lost: Type.Optional(
    Type.Array(
      Type.Object({
        path: Type.String({ description: 'Section, item and code, such as `types.incident.impact`.' }),
        kind: Type.String({ description: 'field, option or state' }) as unknown as TUnsafe<
          'field' | 'option' | 'state'
        >,
        records: Type.Integer({ minimum: 0 }),
        complete: Type.Optional(
          Type.Boolean({ description: 'False if only records and values were counted that the caller may read.' }),
        ),
      }),
      {
        description:
          'Fields, options and states that the item no longer has, with the number of records that hold them. An apply needs `discard` for each, and is refused for states in which records are.',
      },
    ),
  ),
};

export const PlannedItems = Type.Array(Type.Object(plannedProperties, { $id: 'PlannedItem' }));

/** One line of a plan, and of what an apply did (docs/spec/configuration.md#command-line). The id of a new item is null. */
export type PlannedItem = Static<typeof PlannedItems>[number];
/** What happens to the versions of a record type. */
export type VersionStep = NonNullable<PlannedItem['version']>;
/** What goes, and how many records hold it. */
export type Lost = NonNullable<PlannedItem['lost']>[number];

const Difference = Type.Object(
  {
    path: Type.String({
      description:
        'A path such as `fields[priority].required`. Elements of lists are identified by their code. Without codes, by their index in the new list, or in the old one if they are gone.',
    }),
    before: Type.Optional(Type.Unknown()),
    after: Type.Optional(Type.Unknown()),
  },
  { $id: 'ConfigDifference' },
);

export const differenceProperties = {
  differences: Type.Array(Difference, { description: 'At most 200; empty for an unchanged item.' }),
  moreDifferences: Type.Integer({ minimum: 0 }),
};

export const PlannedChanges = Type.Array(
  Type.Object({ ...plannedProperties, ...differenceProperties }, { $id: 'PlannedChange' }),
);

/** A line of a plan with the differences in the item. */
export type PlannedChange = Static<typeof PlannedChanges>[number];
/** The first differences, and the number of the others. */
export type ListedDifferences = Pick<PlannedChange, 'differences' | 'moreDifferences'>;

const Count = Type.Integer({ minimum: 0 });

const Examples = Type.Array(Type.Object({ id: Id, number: nullable(Type.String()) }, { $id: 'ImpactExample' }), {
  description: 'At most ten records, only such that the caller may read.',
});

const accessProperties = {
  records: Type.Array(
    Type.Object(
      {
        type: Type.String(),
        gained: { ...Count, description: 'Records that become readable.' },
        lost: { ...Count, description: 'Records that are no longer readable.' },
        writable: Type.Object({ gained: Count, lost: Count }, { description: 'The same for changing records.' }),
        examples: Examples,
      },
      { $id: 'ImpactRecords' },
    ),
  ),
  fields: Type.Array(
    Type.Object(
      {
        type: Type.String(),
        field: Type.String(),
        access: oneOf(['read', 'write']),
        change: oneOf(['gained', 'lost']),
        records: {
          ...Count,
          description:
            'Records that can be read, or changed, before and after, and of which the field changes. 0 if the change concerns only other records.',
        },
        examples: Examples,
      },
      { $id: 'ImpactField' },
    ),
  ),
};

export const ImpactSchema = Type.Object(
  {
    complete: Type.Boolean({ description: 'False if only records that the caller may read were counted.' }),
    exact: Type.Boolean(),
    errorBound: nullable(
      Type.Integer({
        minimum: 0,
        description: 'The largest error of a count with a probability of 95 %; null if time ran out.',
      }),
    ),
    roles: Type.Array(Type.Object({ role: Type.String(), ...accessProperties })),
    people: Type.Array(Type.Object({ id: Id, login: Type.String(), displayName: Type.String(), ...accessProperties }), {
      description:
        'The 50 most affected users. Empty for callers without `role.assign` and `user.administer`, who may not see who holds a role.',
    }),
    affectedPeople: Count,
    constraints: Type.Array(Type.Object({ path: Type.String(), records: Count, examples: Examples }), {
      description: 'Fields with stored values that the new rules do not accept, as `types.incident.fields.priority`.',
    }),
    states: Type.Array(Type.Object({ type: Type.String(), state: Type.String(), records: Count, examples: Examples }), {
      description: 'Records in states that the workflow of their type no longer has.',
    }),
    sla: Type.Array(
      Type.Object({ policy: Type.String(), moved: Count, earliest: nullable(Instant), breachedAtOnce: Count }),
      { description: 'Running SLA instances whose due time moves.' },
    ),
    broken: Type.Array(Type.Object({ section: Type.String(), code: Type.String(), reason: Type.String() }), {
      description:
        'Webhooks, integrations, import definitions, rules, macros, dashboards, templates, mailboxes and saved queues that stop working.',
    }),
    totals: Type.Object(
      {
        'lost-access': Count,
        'gained-access': Count,
        'invalid-records': Count,
        'sla-breached': Count,
        broken: Count,
      },
      {
        description:
          'What `docket apply --refuse-if` compares. Access: sums over all users, of records and of records on which a field changes, and one for each field in `roles`.',
      },
    ),
    totalErrors: Type.Object(
      {
        'lost-access': nullable(Count),
        'gained-access': nullable(Count),
        'invalid-records': nullable(Count),
        'sla-breached': nullable(Count),
        broken: nullable(Count),
      },
      { description: 'The largest error of each total with a probability of 95 %; null if not all was counted.' },
    ),
  },
  { $id: 'PlanImpact' },
);

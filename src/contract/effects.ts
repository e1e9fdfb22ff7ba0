/** What a dry run would have done, in `meta.effects`. */
import Type, { type Static } from 'typebox';
import { MetaSchema } from './envelope.ts';
import { Id, Instant, nullable } from './schemas.ts';

/** Entries of each list at most. */
export const MAX_EFFECTS = 100;

export const EffectsSchema = Type.Object(
  {
    events: Type.Array(
      Type.Object(
        {
          id: Id,
          type: Type.String(),
          at: Instant,
          actor: Type.Object({ id: nullable(Id), displayName: Type.String(), via: Type.String() }),
          objectId: Id,
          revision: nullable(Type.Integer()),
          changes: Type.Array(Type.Object({ field: Type.String(), from: Type.Unknown(), to: Type.Unknown() })),
          data: Type.Record(Type.String(), Type.Unknown()),
        },
        { $id: 'PlannedEvent' },
      ),
      {
        description:
          'Events of records, as their history would show them to the caller. They need the scopes of the changes feed.',
      },
    ),
    sla: Type.Array(
      Type.Object(
        {
          objectId: Id,
          policyCode: Type.String(),
          change: Type.Union([
            Type.Literal('STARTED'),
            Type.Literal('PAUSED'),
            Type.Literal('RESUMED'),
            Type.Literal('STOPPED'),
            Type.Literal('RETARGETED'),
          ]),
          dueAt: nullable(Instant),
        },
        { $id: 'PlannedSlaChange' },
      ),
      { description: 'Needs the scope `sla:read`, otherwise it is empty.' },
    ),
    webhooks: Type.Array(Type.Object({ subscriptionId: Id, eventType: Type.String() }, { $id: 'PlannedDelivery' }), {
      description:
        'Subscriptions that match by event type and record type, whose conditions are not evaluated, and those through which rules send messages. Needs the scope `webhooks:manage` and the right `webhook.manage`, otherwise it is empty.',
    }),
    rules: Type.Array(Type.Object({ code: Type.String(), outcome: Type.String() }, { $id: 'PlannedRule' }), {
      description:
        'Rules that would fire on records that the caller may read, with `DONE` or `FAILED`. Needs the right `config.manage`, otherwise it is empty. A rule whose condition names hidden fields is left out, unless it runs as the caller or the caller holds `role.assign`.',
    }),
    notifications: Type.Array(
      Type.Object(
        {
          to: Type.String({ description: 'Login.' }),
          channel: Type.String({ description: '`console`, `mail`, or `digest` for the daily mail.' }),
          template: Type.String({ description: 'The kind of the notification.' }),
        },
        { $id: 'PlannedNotification' },
      ),
      {
        description:
          'Those to the caller; those to others need the right `user.administer`, and to read the comment and the fields that name people.',
      },
    ),
    truncated: Type.Boolean({ description: `True if a list has more than ${MAX_EFFECTS} entries.` }),
  },
  { $id: 'Effects' },
);

export type Effects = Static<typeof EffectsSchema>;
export type EffectLists = Omit<Effects, 'truncated'>;

/** The first entries of each list. */
export function cutEffects({ events, sla, webhooks, rules, notifications }: EffectLists): Effects {
  const all = { events, sla, webhooks, rules, notifications };
  const cut = Object.entries(all).map(([name, list]): [string, unknown[]] => [name, list.slice(0, MAX_EFFECTS)]);
  const truncated = Object.values(all).some((list) => list.length > MAX_EFFECTS);
  return { ...Object.fromEntries(cut), truncated } as Effects;
}

/** The effects of the parts of a call, in their order. */
export function joinEffects(parts: readonly Effects[]): Effects {
  const joined = cutEffects({
    events: parts.flatMap((part) => part.events),
    sla: parts.flatMap((part) => part.sla),
    webhooks: parts.flatMap((part) => part.webhooks),
    rules: parts.flatMap((part) => part.rules),
    notifications: parts.flatMap((part) => part.notifications),
  });
  return { ...joined, truncated: joined.truncated || parts.some(({ truncated }) => truncated) };
}

/** Members of `meta` of a dry run. */
export const dryRunMembers = {
  dryRun: Type.Optional(Type.Literal(true, { description: 'Present if this was a dry run: nothing was changed.' })),
  effects: Type.Optional(EffectsSchema),
};

export const DryRunMeta = Type.Object({ ...MetaSchema.properties, ...dryRunMembers }, { $id: 'WriteMeta' });

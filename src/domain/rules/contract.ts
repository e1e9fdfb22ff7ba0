/** Operations on rules. Rules themselves are configuration. */
import { RULE_EVENTS } from '../../contract/events.ts';
import { RULE_FAULTS } from '../../lib/fault-codes.ts';
import Type from 'typebox';
import { EffectsSchema } from '../../contract/effects.ts';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Code, Id, Instant, nullable, oneOf } from '../../contract/schemas.ts';
import { ACTION_KINDS } from './registry.ts';
import { RUNS_KEPT } from './store.ts';

const console = { access: 'console', right: 'config.manage', tag: 'Rules', status: 200 } as const;
const params = closed({ code: Code });

export const listRuns = defineOperation({
  ...console,
  id: 'rules.runs',
  method: 'GET',
  path: '/rules/{code}/runs',
  growth: 'page',
  unit: 'read',
  summary: 'List the runs of a rule, newest first',
  description: `Each time that the rule fired, what it did or why it failed. The last ${RUNS_KEPT} runs are kept. Runs on records that the caller may not read are left out; so are those of a condition or a \`since\` that names hidden fields, and those on hidden comments, files and relations, unless the rule runs as the caller or the caller holds \`role.assign\`.`,
  params,
  query: closed({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: RUNS_KEPT, default: 100 })) }),
  answer: Type.Array(
    Type.Object(
      {
        id: Id,
        at: Instant,
        objectId: nullable(Id),
        eventType: Type.String(),
        chain: Type.Array(Type.String(), {
          description:
            'Codes of the rules that led to the event, the first one first, without those whose runs are left out.',
        }),
        outcome: oneOf(['DONE', 'FAILED']),
        effects: Type.Array(
          Type.Object({
            kind: oneOf(ACTION_KINDS),
            objectId: nullable(Id),
          }),
        ),
        error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
        durationMs: Type.Integer(),
        correlationId: Type.String(),
      },
      { $id: 'RuleRun' },
    ),
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const tryRule = defineOperation({
  ...console,
  id: 'rules.try',
  method: 'POST',
  path: '/rules/{code}/try',
  unit: 'own',
  dryRun: false,
  summary: 'Try out a rule on a record',
  description:
    'Runs the rule as if the event had just happened to the record and had set all its values, and rolls everything back. The answer is that of a dry run: it shows what the caller may read. If the condition or `since` of a rule that runs as another user names fields that the caller may not read, `role.assign` is needed. `rules` has the outcome `SKIPPED` if the rule does not fire. Works while the rule is disabled. Without `event`, the first one of the rule is tried.',
  params,
  body: closed({ objectId: Id, event: Type.Optional(oneOf(RULE_EVENTS)) }),
  answer: EffectsSchema,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', ...RULE_FAULTS],
});

/** Operations that help to write rules: what a rule would have done, and which rule can fire which. */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, Instant, nullable } from '../../contract/schemas.ts';

const console = { access: 'console', right: 'config.manage', tag: 'Rules', unit: 'snapshot', status: 200 } as const;

/** Records of an answer at most. */
export const MAX_EXAMPLES = 100;
/** Milliseconds for reading the history. */
export const BUDGET_MS = 5000;
export const DAYS = 30;

export const previewRule = defineOperation({
  ...console,
  id: 'rules.preview',
  method: 'POST',
  path: '/rules/preview',
  summary: 'Preview on which records a rule would have fired',
  description: `Compares the rule, which need not be stored, with the history of the last ${DAYS} days or of \`days\`, newest first, and changes nothing. Counted are records that the caller and the user of the rule may read now, if the caller may also read their history. Fields count as far as both may read them now. Changes by imports are left out, because rules react to them only if the import says so. What the rule itself would have changed is not taken into account. Of a time-based rule, the changes of \`since\` in these days count, with the calendar as it is now. At most ${BUDGET_MS / 1000} s of history reading: \`from\` says how far it came. A rule that runs as another user than the caller needs \`role.assign\`.`,
  body: closed({
    rule: Type.Unknown({ description: 'A rule as in the section `rules` of a bundle.' }),
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: DAYS })),
  }),
  answer: Type.Object(
    {
      from: Type.String({ format: 'date-time', description: 'The history was read from this time on.' }),
      to: Instant,
      complete: Type.Boolean({
        description: 'False if the whole period could not be read: `from` is later than asked.',
      }),
      limited: Type.Boolean({
        description:
          'True if the condition names fields that the user of the rule may read and the caller may not, on some record. There they have no value.',
      }),
      records: Type.Integer({ description: 'Records on which the rule would have fired.' }),
      firings: Type.Integer({ description: 'How often it would have fired: at most once for a record in one change.' }),
      examples: Type.Array(
        Type.Object({
          id: Id,
          number: nullable(Type.String()),
          title: nullable(Type.String()),
          at: Type.String({ format: 'date-time', description: 'When it would have fired last.' }),
          eventType: Type.String(),
          firings: Type.Integer(),
        }),
        { description: `The last ${MAX_EXAMPLES} records, the latest one first.` },
      ),
    },
    { $id: 'RulePreview' },
  ),
  faults: ['RIGHT_MISSING'],
});

export const ruleGraph = defineOperation({
  ...console,
  id: 'rules.graph',
  method: 'GET',
  path: '/rules/graph',
  growth: 'few',
  summary: 'Show which rule can fire which',
  description:
    'Active rules in the order in which one event fires them (`order`, then code), and which rules their actions can fire, as the check of a plan sees it. Whether conditions are met then is not known. A rule that is not enabled fires none and is fired by none.',
  answer: Type.Array(
    Type.Object(
      {
        code: Type.String(),
        name: Type.String(),
        enabled: Type.Boolean(),
        order: Type.Integer({ description: 'Place among the rules that one event fires, the lowest first.' }),
        on: Type.Array(Type.String(), { description: 'Events that it reacts to.' }),
        types: Type.Array(Type.String(), { description: 'Codes of record types.' }),
        fires: Type.Array(Type.String(), { description: 'Codes of the rules that it can fire.' }),
        loop: nullable(
          Type.Array(Type.String(), {
            description: 'The shortest chain back to the rule, which is its first and last.',
          }),
        ),
        unmeetable: nullable(
          Type.String({ description: 'A field on which no event of the rule can meet the condition: it never fires.' }),
        ),
      },
      { $id: 'RuleInGraph' },
    ),
  ),
  faults: ['RIGHT_MISSING'],
});

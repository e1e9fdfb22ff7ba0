/** The API contract of lists as files: what a list shows, with names instead of ids. */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed } from '../../contract/schemas.ts';
import { listSelection } from './contract.ts';

/** Maximum number of records in a file. */
export const MAX_ROWS = 100_000;

const Word = Type.String({ minLength: 1, maxLength: 40 });

export const exportDeskObjects = defineOperation({
  id: 'desk.export',
  access: 'console',
  replicaSafe: true,
  method: 'POST',
  path: '/desk/objects/file',
  right: 'export.execute',
  unit: 'own',
  long: true,
  dryRun: false,
  status: 200,
  tag: 'Desk',
  summary: 'Export a list of records as a table',
  description: `The records of \`GET /desk/objects\` with the same selection and order, as CSV or XLSX. Cells hold what the list shows: names of options, states, users, groups, units, services and records instead of ids. Times are in \`timeZone\`. In XLSX, numbers, dates and times are cells of that kind. \`sla.remaining\` is in hours, \`sla.breached\` is \`words.yes\` or \`words.no\`. At most ${MAX_ROWS.toLocaleString('en')} records. Which records are in the file and in which order is decided when it begins; values and rights are those of the moment in which a record is written. A text of more than 32,767 characters, the limit of a cell, is cut in XLSX and ends with its length in brackets. Time limit 300 s.`,
  body: closed({
    format: Type.Union([Type.Literal('CSV'), Type.Literal('XLSX')]),
    title: Type.String({ minLength: 1, maxLength: 200, description: 'Becomes the name of the file and of the sheet.' }),
    columns: Type.Array(
      closed({
        code: Type.String({
          minLength: 1,
          maxLength: 64,
          description:
            'A field of the type given by `typeId` (without it, a field of GET /desk/fields), or `number`, `title`, `type`, `workflowState`, `createdAt`, `createdBy`, `updatedAt`, `updatedBy`, `sla.dueAt`, `sla.remaining`, `sla.breached`.',
        }),
        name: Type.String({ minLength: 1, maxLength: 400, description: 'Written in the first row.' }),
      }),
      { minItems: 1, maxItems: 100 },
    ),
    timeZone: Type.String({ minLength: 1, maxLength: 64, description: 'Name in the IANA database.' }),
    words: closed({ yes: Word, no: Word }),
    ...listSelection,
  }),
  answer: Type.String(),
  raw: { mediaTypes: ['text/csv', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'] },
  timeoutMs: 300_000,
  faults: ['RIGHT_MISSING', 'INVALID_FILTER', 'FILTER_TOO_EXPENSIVE'],
});

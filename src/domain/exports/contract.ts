/** The API contract of exports (docs/spec/import-export-bulk.md). */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, IdOrCode } from '../../contract/schemas.ts';
import { ObjectSchema } from '../objects/index.ts';

export const exportRecords = defineOperation({
  id: 'exports.create',
  replicaSafe: true,
  method: 'POST',
  path: '/exports',
  access: 'exports:read',
  right: 'export.execute',
  unit: 'own',
  status: 200,
  tag: 'Export',
  summary: 'Export records of a type as a file',
  description:
    'Active records that the caller may read, newest first, with the fields that the caller may read. Only whole rows, up to `limit` and 16 MiB; the file does not tell whether there were more. Time limit 300 s.',
  body: closed({
    typeDefinitionId: IdOrCode,
    format: Type.Union([Type.Literal('JSON'), Type.Literal('CSV')]),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1000 })),
    query: Type.Optional(
      Type.Union(
        [
          Type.String({ maxLength: 10_000 }),
          closed({
            q: Type.Optional(Type.String({ maxLength: 10_000 })),
            filter: Type.Optional(Type.Unknown({ description: 'A condition, as in GET /search.' })),
          }),
        ],
        { description: 'Words, as in GET /objects, and a condition; a text is taken as words.' },
      ),
    ),
  }),
  answer: Type.Array(ObjectSchema),
  raw: { mediaTypes: ['application/json', 'text/csv'] },
  timeoutMs: 300_000,
  faults: ['RIGHT_MISSING', 'INVALID_FILTER', 'FILTER_TOO_EXPENSIVE'],
});

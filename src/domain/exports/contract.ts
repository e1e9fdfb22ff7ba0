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
  long: true,
  dryRun: false,
  status: 200,
  tag: 'Export',
  summary: 'Export records of a type as a file',
  description:
    'Active records that the caller may read, newest first, with the fields that the caller may read. The file ends after the last complete row within `limit` and 16 MiB. It does not show whether there are more rows. Time limit 300 s.',
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
        { description: 'Search words, as in GET /objects, and a condition. A string is read as search words.' },
      ),
    ),
  }),
  answer: Type.Array(ObjectSchema),
  raw: { mediaTypes: ['application/json', 'text/csv'] },
  timeoutMs: 300_000,
  faults: ['RIGHT_MISSING', 'INVALID_FILTER', 'FILTER_TOO_EXPENSIVE'],
});

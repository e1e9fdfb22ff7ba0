/** The API contract of bulk changes (docs/spec/import-export-bulk.md). */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, MAX_RECORD_VALUES, Revision, Values } from '../../contract/schemas.ts';

const items = <T extends ReturnType<typeof closed>>(item: T) => Type.Array(item, { minItems: 1, maxItems: 1000 });

export const UpdateItem = closed({
  objectId: Id,
  expectedRevision: Revision,
  changes: Type.Record(Type.String({ minLength: 1, maxLength: 63 }), Type.Unknown(), {
    minProperties: 1,
    maxProperties: MAX_RECORD_VALUES,
  }),
});
export const ArchiveItem = closed({ objectId: Id, expectedRevision: Revision });
export const TransitionItem = closed({
  objectId: Id,
  transitionId: Id,
  expectedRevision: Revision,
  expectedStateId: Id,
  values: Type.Optional(Values),
});

export const bulk = defineOperation({
  id: 'bulk.run',
  method: 'POST',
  path: '/bulk',
  access: 'objects:write',
  unit: 'own',
  status: 200,
  tag: 'Bulk',
  summary: 'Change up to 1000 records in one call',
  description:
    'Items are independent and are applied in order. An item that fails changes nothing and does not affect other items. Results are in the order of the items, with the error that the endpoint for one record would return. Each item needs the right for its operation. Time limit 300 s.',
  body: Type.Union([
    closed({ operation: Type.Literal('update'), items: items(UpdateItem) }),
    closed({ operation: Type.Literal('archive'), items: items(ArchiveItem) }),
    closed({ operation: Type.Literal('transition'), items: items(TransitionItem) }),
  ]),
  answer: Type.Array(
    Type.Object(
      {
        objectId: Id,
        status: Type.Union([Type.Literal('SUCCEEDED'), Type.Literal('FAILED')]),
        revision: Type.Optional(Revision),
        error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String(), details: Type.Unknown() })),
      },
      { $id: 'BulkItemResult' },
    ),
  ),
  timeoutMs: 300_000,
  faults: [],
});

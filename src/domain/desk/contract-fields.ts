/** The API contract of the fields that a list of several types offers. */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed } from '../../contract/schemas.ts';
import { FieldSchema } from '../metadata/index.ts';
import { listSelection } from './contract.ts';

export const listFields = defineOperation({
  id: 'desk.fields',
  access: 'console',
  tag: 'Desk',
  replicaSafe: true,
  method: 'GET',
  path: '/desk/fields',
  growth: 'few',
  unit: 'read',
  status: 200,
  summary: 'List the fields that the types of a list share',
  description:
    'The columns that a list without `typeId` offers beside those of every record: fields of at least two of its types with the same code or role and the same data type, and fields with a role. `filter` and `sla` narrow the types to those whose records the list can have. Fields that the caller can never read are left out. An option list has the options of all types.',
  query: closed({ filter: listSelection.filter, sla: listSelection.sla }),
  answer: Type.Array(
    Type.Object(
      {
        ...FieldSchema.properties,
        codes: Type.Record(Type.String(), Type.String(), {
          description: 'The code of the field, by the id of the type.',
        }),
      },
      { $id: 'ListField', description: 'A field that types share; `code` is the code of its column and sort key.' },
    ),
  ),
  faults: ['INVALID_FILTER'],
});

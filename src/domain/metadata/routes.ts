import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import * as contract from './contract.ts';
import { getTypeFields, listTypes } from './queries.ts';

export const metadataRoutes: BoundOperation[] = [
  bind(contract.listTypes, (ctx) => listTypes(ctx)),
  bind(contract.getTypeFields, (ctx, { params }) => getTypeFields(ctx, params.typeId)),
];

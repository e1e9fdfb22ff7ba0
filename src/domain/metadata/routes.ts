import { bind, type Binding } from '../../platform/module.ts';
import * as contract from './contract.ts';
import { getTypeFields, listTypes } from './queries.ts';

export const metadataRoutes: readonly Binding[] = [
  bind(contract.listTypes, (ctx) => listTypes(ctx)),
  bind(contract.getTypeFields, (ctx, { params }) => getTypeFields(ctx, params.typeId)),
];

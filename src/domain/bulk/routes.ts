import { bind, type Binding } from '../../platform/module.ts';
import { type BulkInput, runBulk } from './commands.ts';
import * as contract from './contract.ts';

export const bulkRoutes: readonly Binding[] = [
  bind(contract.bulk, (runner, { body }) => runBulk(runner, body as BulkInput)),
];

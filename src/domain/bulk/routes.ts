import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { type BulkInput, runBulk } from './commands.ts';
import * as contract from './contract.ts';

export const bulkRoutes: BoundOperation[] = [
  bind(contract.bulk, (runner, { body }) => runBulk(runner, body as BulkInput)),
];

import { type BoundOperation, bind } from '../../mechanisms/binding.ts';
import * as contract from './contract.ts';
import { exportRecords, type FreshCaller } from './queries.ts';

/** `freshCaller`: the same caller with the rights that hold now, for each further page. */
export function exportRoutes(freshCaller: FreshCaller): BoundOperation[] {
  return [bind(contract.exportRecords, (runner, { body }) => exportRecords(runner, body, freshCaller))];
}

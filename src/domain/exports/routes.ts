import { type BoundOperation, bind } from '../../mechanisms/binding.ts';
import * as contract from './contract.ts';
import type { WordMatch } from '../objects/door.ts';
import { exportRecords, type FreshCaller } from './queries.ts';

/** `freshCaller`: the same caller with the rights that hold now, for each further page. `matches`: who knows words. */
export function exportRoutes(freshCaller: FreshCaller, matches: WordMatch): BoundOperation[] {
  return [bind(contract.exportRecords, (runner, { body }) => exportRecords(runner, body, freshCaller, matches))];
}

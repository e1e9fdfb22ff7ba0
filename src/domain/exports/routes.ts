import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import * as contract from './contract.ts';
import type { WordMatch } from '../objects/index.ts';
import { exportRecords, type FreshCaller } from './queries.ts';

/**
 * @param freshCaller returns the same caller with the current rights, for each further page
 * @param matches matches words
 */
export function exportRoutes(freshCaller: FreshCaller, matches: WordMatch): BoundOperation[] {
  return [bind(contract.exportRecords, (runner, { body }) => exportRecords(runner, body, freshCaller, matches))];
}

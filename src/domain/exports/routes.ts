import { bindWith, type UnboundOperation } from '../../platform/module.ts';
import * as contract from './contract.ts';
import { wordMatch } from '../objects/index.ts';
import { exportRecords } from './queries.ts';

export const exportRoutes: readonly UnboundOperation[] = [
  bindWith(
    contract.exportRecords,
    (service) =>
      (runner, { body }) =>
        exportRecords(runner, body, service.freshCaller, service.get(wordMatch)),
  ),
];

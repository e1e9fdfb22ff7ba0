import { bind, type Binding } from '../../platform/module.ts';
import * as contract from './contract.ts';
import { wordMatch } from '../objects/index.ts';
import { exportRecords } from './queries.ts';

export const exportRoutes: readonly Binding[] = [
  bind(contract.exportRecords, (runner, { body }, _request, service) =>
    exportRecords(runner, body, service.freshCaller, service.get(wordMatch)),
  ),
];

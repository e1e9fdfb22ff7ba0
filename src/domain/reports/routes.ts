import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import * as contract from './contract.ts';
import { queryReport } from './queries.ts';

export const reportRoutes: BoundOperation[] = [bind(contract.queryReport, (ctx, { body }) => queryReport(ctx, body))];

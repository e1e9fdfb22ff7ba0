/**
 * `npm run test:rights [-- --runs 100 --seed N]`: rights over generated roles, users and records, compared with an oracle that
 * evaluates all records. The suite does the same four times (`test/rights.db.test.ts`).
 */
import { longRun } from './long-run.ts';
import { runTestFile } from '../support/test-file.ts';

const run = longRun({ runs: 100 });
const settings = { DOCKET_TEST_RIGHTS_RUNS: String(run.number('runs')), DOCKET_TEST_SEED: String(run.seed) };
run.end(await runTestFile('test/rights.db.test.ts', settings));

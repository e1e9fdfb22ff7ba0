/**
 * `npm run test:shared-port [-- --kills 500]`: processes that share a port are killed repeatedly; no client may wait for a response
 * that never comes. The suite kills ten (`test/shared-port.slow.test.ts`).
 */
import { longRun } from './long-run.ts';
import { runTestFile } from '../support/test-file.ts';

const run = longRun({ kills: 500 });
run.end(await runTestFile('test/shared-port.slow.test.ts', { DOCKET_TEST_PORT_KILLS: String(run.number('kills')) }));

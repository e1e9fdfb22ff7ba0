/** The process: hands arguments and environment to the command line. */
import { run } from './cli.ts';

process.exitCode = await run(process.argv.slice(2), process.env);
// Sockets that linger after a graceful stop must not hold the process.
if (process.exitCode !== 0) process.exit();

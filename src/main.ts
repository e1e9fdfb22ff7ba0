/** The process: hands arguments and environment to the command line. */
import { enableCompileCache } from 'node:module';
import path from 'node:path';

// What the engine made of the sources is kept for the next start, which then takes a third of the processor's time. It lies
// with the packages, whose writers can change what runs anyway; where it cannot be written, nothing is kept.
enableCompileCache(path.join(import.meta.dirname, '../node_modules/.cache/docket'));
const { run } = await import('./cli.ts');

process.exitCode = await run(process.argv.slice(2), process.env);
// Sockets that linger after a graceful stop must not hold the process.
if (process.exitCode !== 0) process.exit();

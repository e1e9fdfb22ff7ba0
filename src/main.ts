/** Process entry point: passes arguments and environment to the command line. */
import { enableCompileCache } from 'node:module';
import path from 'node:path';

// Caches compiled code, which cuts the processor time of later starts to a third. The cache is stored with the packages: users
// who can write there can change the code anyway. If the folder is not writable, nothing is cached.
enableCompileCache(path.join(import.meta.dirname, '../node_modules/.cache/docket'));
const { run } = await import('./cli.ts');

process.exitCode = await run(process.argv.slice(2), process.env);
// Sockets still open after a graceful stop must not keep the process alive.
if (process.exitCode !== 0) process.exit();

/**
 * Stops every form of the start at 20 moments spread over it (`npm run test:stop-at-start`), and fails where a process, a lock
 * or an unfinished folder is left over. The suite does the same with few moments.
 */
import { FORMS, type Form, sweep } from './stop-at-start-parts.ts';

const MOMENTS = Number(process.argv[2] ?? 20);

const failures: string[] = [];
for (const form of Object.keys(FORMS) as Form[]) {
  const swept = await sweep(form, { moments: MOMENTS, tell: (line) => process.stdout.write(`${line}\n`) });
  failures.push(...swept.failures);
}
process.stdout.write(failures.length === 0 ? 'Nothing was left over.\n' : `${failures.join('\n')}\n`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Runs a test file of the suite as a long test: with environment variables that make it do more. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** @returns what failed, for `LongRun.end`; the tests print the details */
export async function runTestFile(file: string, settings: Readonly<Record<string, string>>): Promise<string[]> {
  const flags = ['--test', '--test-global-setup=test/support/global-setup.ts'];
  const child = spawn(process.execPath, [...flags, file], {
    cwd: ROOT,
    env: { ...process.env, ...settings },
    stdio: 'inherit',
  });
  const [code, signal] = await once(child, 'close');
  return code === 0 ? [] : [`${file} ended with ${code ?? signal}`];
}

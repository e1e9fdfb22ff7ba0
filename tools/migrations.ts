/**
 * Rejects migrations that would block a running service or break the previous version (ADR 0015): `npm run check:migrations`.
 * Squawk knows which statements take which locks; the exceptions of this project are listed here with their reasons.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readMigrations } from '../src/platform/database/migrate.ts';

/** Number of migrations of the first release. They run on an empty database, so their indexes block no statements. */
const FIRST_RELEASE = 1;

/** Rule → why it does not apply. */
const EXCUSED: Readonly<Record<string, string>> = {
  'prefer-robust-stmts': 'each migration is one transaction, so none is ever partially applied',
  'require-lock-timeout': 'the runner sets lock_timeout and retries',
  'require-statement-timeout': 'slow work does not belong in a migration; lock_timeout limits waits',
  'prefer-bigint-over-int': 'integer columns count revisions, sizes and attempts',
  'prefer-bigint-over-smallint': 'an HTTP status has three digits',
};
/** Additional exception for the first release. */
const EXCUSED_FIRST = ['require-concurrent-index-creation'];

export interface Complaint {
  file: string;
  line: number;
  rule: string;
  message: string;
}

interface Reported {
  file: string;
  line: number;
  message: string;
  rule_name: string;
}

function squawk(files: readonly string[], excused: readonly string[]): Complaint[] {
  if (files.length === 0) return [];
  const tool = createRequire(import.meta.url).resolve('squawk-cli/package.json');
  const args = [
    '--reporter',
    'json',
    '--pg-version',
    '15.0',
    '--assume-in-transaction',
    '--exclude',
    excused.join(','),
  ];
  const program = path.join(path.dirname(tool), 'js', 'bin', 'squawk');
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args, ...files], { encoding: 'utf8' });
  if (stdout.trim() === '') throw new Error(`squawk did not run (${status}): ${stderr}`);
  const found = JSON.parse(stdout) as Reported[];
  return found.map(({ file, line, message, rule_name }) => ({ file, line: line + 1, rule: rule_name, message }));
}

/** The problems of the migrations, in the order of the files. `first`: number of migrations of the first release. */
export function complaints(files: readonly string[], first = FIRST_RELEASE): Complaint[] {
  const early = files.filter((file) => Number(path.basename(file).slice(0, 4)) <= first);
  const later = files.filter((file) => !early.includes(file));
  const rules = Object.keys(EXCUSED);
  return [...squawk(early, [...rules, ...EXCUSED_FIRST]), ...squawk(later, rules)];
}

if (import.meta.main) {
  const folder = fileURLToPath(new URL('../db/migrations', import.meta.url));
  const files = (await readMigrations(folder)).map(({ name }) => path.join(folder, `${name}.sql`));
  const found = complaints(files);
  for (const { file, line, rule, message } of found) {
    process.stderr.write(`${path.relative('.', file)}:${line}: ${rule}: ${message}\n`);
  }
  if (found.length > 0) process.exitCode = 1;
  else process.stdout.write(`${files.length} migrations without problems\n`);
}

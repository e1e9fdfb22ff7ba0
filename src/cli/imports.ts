/**
 * `docket import`: imports a file of any size as a stream, with a progress bar. An interrupted import resumes when it is
 * repeated.
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { systemCaller } from '../modules.ts';
import { type Content, importFile, type Progress } from '../domain/imports/index.ts';
import { ensureNumbering } from '../domain/metadata/index.ts';
import { isFault } from '../lib/fault.ts';
import { type SessionLock, trySessionLock } from '../platform/database/session-lock.ts';
import { toFault } from '../platform/database/sqlstate.ts';
import { VersionWatcher } from '../platform/unit-of-work/versions.ts';
import { type Environment, output, type Output, progressKeeper } from './command.ts';
import { openTool } from './service.ts';

const CHUNK = 65_536;
const BAR = 30;
const MOST_LISTED = 20;

/** The bytes of a file. All chunks use the same buffer: a chunk is valid only until the next is requested. */
async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  const handle = await open(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** The text of a file; each call starts from the beginning. */
function contentOf(file: string): Content {
  return async function* () {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    let read = 0;
    for await (const bytes of bytesOf(file)) {
      yield decoded(decoder, bytes, read);
      read += bytes.length;
    }
    yield decoded(decoder, undefined, read);
  };
}

function decoded(decoder: TextDecoder, bytes: Buffer | undefined, at: number): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch {
    throw new Error(`The file is not UTF-8: near byte ${at}. Save it as UTF-8 and try again.`);
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of bytesOf(file)) hash.update(bytes);
  return hash.digest('hex');
}

/** Shows progress: a bar on a terminal, else a line at intervals. */
function progressOf(out: Output, json: boolean): (progress: Progress) => void {
  const isDue = progressKeeper();
  return ({ done, total }) => {
    const due = isDue();
    const part = total === null ? 0 : total === 0 ? 1 : done / total;
    const rows = done.toLocaleString('en');
    const says = total === null ? `reading: ${rows} rows` : `${rows} of ${total.toLocaleString('en')} rows`;
    if (!json && process.stderr.isTTY) {
      const filled = Math.round(part * BAR);
      const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}]`;
      process.stderr.write(`\r${bar} ${Math.floor(part * 100)}%  ${says}${done === total ? '\n' : ''}`);
    } else if (due) out.say(`${Math.floor(part * 100)}%  ${says}`);
  };
}

/**
 * Retries while the database is unavailable. A service rejects a request at once, but a short interruption must not end an
 * import of hours.
 *
 * @throws Fault DATABASE_UNAVAILABLE if it stays unavailable for `patienceMs`
 */
export async function patiently<T>(ask: () => Promise<T>, patienceMs = 60_000, againMs = 200): Promise<T> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isFault(error) || error.code !== 'DATABASE_UNAVAILABLE' || performance.now() > until) throw error;
      await sleep(againMs);
    }
  }
}

interface Flags {
  definition: string;
  dryRun?: boolean;
  json?: boolean;
}

export function importCommand(docket: Command, environment: Environment): void {
  docket
    .command('import <file>')
    .description('Import a CSV or JSON file of any size; repeat the command to resume after an interruption.')
    .requiredOption('--definition <code>', 'code or id of the import definition')
    .option('--dry-run', 'validate without saving changes')
    .option('--json', 'print the run as JSON')
    .action(async (file: string, flags: Flags) => {
      const json = flags.json === true;
      const out = output(json);
      const sha256 = await sha256Of(file).catch(() => {
        throw new Error(`${file} cannot be read; give the name of a readable file.`);
      });
      const tool = await openTool(environment.settings(), () => {});
      const { db, clock } = tool;
      const versions = new VersionWatcher({ db, clock, prepare: (snapshot) => ensureNumbering(db, snapshot) });
      let lock: SessionLock | undefined;
      try {
        const run = await importFile({
          work: tool.work,
          caller: tool.caller,
          parts: { freshCaller: async () => systemCaller(await patiently(() => versions.fresh())) },
          definition: flags.definition,
          content: contentOf(file),
          file: { name: path.basename(file), sha256 },
          dryRun: flags.dryRun === true,
          exclusive: async (name) => {
            const before = lock;
            lock = undefined;
            await before?.release();
            lock = await trySessionLock(db, name).catch((error: unknown) => {
              throw toFault(error);
            });
            return lock !== undefined;
          },
          onProgress: progressOf(out, json),
        });
        const failed = run.rows.filter(({ status }) => status === 'FAILED');
        const listed = failed.slice(0, MOST_LISTED);
        out.result(run, [
          `${run.dryRun ? 'Dry run' : run.resumed ? 'Resumed run' : 'Run'} ${run.id} of ${run.total} rows:`,
          `  ${run.succeeded} created or updated, ${run.skipped} skipped, ${run.failed} failed.`,
          ...listed.flatMap(({ row, errors }) => errors.map((error) => `  row ${row}: ${error.path} ${error.message}`)),
          ...(run.failed > listed.length ? [`  … GET /import-runs/${run.id} lists more.`] : []),
        ]);
      } finally {
        await lock?.release();
        await tool.close();
      }
    });
}

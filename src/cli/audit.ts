/** `docket audit verify`, `docket audit head`: the chain of seals over the journal. */
import type { Command } from 'commander';
import { sealCursor, type SealHead } from '../mechanisms/seals.ts';
import { verifyJournal } from '../mechanisms/seals-verify.ts';
import type { Environment } from './environment.ts';
import { memoryKeeper } from './memory.ts';
import { output } from './output.ts';
import { openDatabase, requireSchema } from './service.ts';

interface Json {
  json?: boolean;
}

const TELL_MS = 5000;
const HEAD = /^(\d{1,15}):([0-9a-f]{64})$/;

function headOf(text: string, command: Command): SealHead {
  const [, number = '', hash = ''] = HEAD.exec(text) ?? command.error('--expect is NUMBER:HASH', { exitCode: 2 });
  return { number: Number(number), hash };
}

export function auditCommands(docket: Command, environment: Environment): void {
  const audit = docket.command('audit').description('The audit log, and the chain of hashes that seals it.');
  audit
    .command('verify')
    .description('Check that nothing in the audit log was altered, deleted, put in or moved.')
    .option('--expect <head>', 'a head noted earlier, as "docket audit head" prints it')
    .option('--json', 'print {rows, seals, unsealed, head, findings, more}')
    .action(async (options: Json & { expect?: string }, command: Command) => {
      const expected = options.expect === undefined ? undefined : headOf(options.expect, command);
      const out = output(options.json === true);
      const opened = await openDatabase(environment.settings(), () => {}, 'tool');
      try {
        await requireSchema(opened.db, { make: false, newer: false });
        const tidy = memoryKeeper();
        let told = performance.now();
        const found = await verifyJournal(opened.db, expected, (rows) => {
          tidy();
          if (performance.now() - told < TELL_MS) return;
          told = performance.now();
          out.say(`${rows} rows`);
        });
        const { rows, seals, unsealed, head, findings, more } = found;
        const listed = findings.map(({ place, kind, says }) => `${place}: ${kind}: ${says}`);
        out.result(found, [
          `${rows} rows, ${seals} seals, ${unsealed} rows not sealed yet; head ${head.number}:${head.hash}`,
          ...listed,
          ...(more > 0 ? [`and ${more} more`] : []),
        ]);
        if (findings.length > 0) throw new Error('the audit log is not as it was written; the list says where.');
        if (expected === undefined) {
          out.say(
            'Whoever rewrites everything rewrites the chain too: keep heads elsewhere, and give one with --expect.',
          );
        }
      } finally {
        await opened.close();
      }
    });
  audit
    .command('head')
    .description('Print the newest seal, NUMBER:HASH: keep it where nobody who has the database can change it.')
    .option('--json', 'print {number, hash}')
    .action(async (options: Json) => {
      const opened = await openDatabase(environment.settings(), () => {}, 'tool');
      try {
        await requireSchema(opened.db, { make: false, newer: false });
        const { number, hash } = await sealCursor(opened.db);
        output(options.json === true).result({ number, hash }, [`${number}:${hash}`]);
      } finally {
        await opened.close();
      }
    });
}

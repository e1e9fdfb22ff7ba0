/** `docket audit verify`, `docket audit head`: the hash chain that seals the audit log. */
import type { Command } from 'commander';
import { sealCursor, type SealHead } from '../platform/audit/seals.ts';
import { parseHead, readHeads } from '../platform/audit/seal-heads.ts';
import { verifyJournal } from '../platform/audit/seals-verify.ts';
import type { Environment } from './environment.ts';
import { memoryKeeper } from './memory.ts';
import { output } from './output.ts';
import { openDatabase, requireSchema } from './service.ts';

interface Json {
  json?: boolean;
}

const TELL_MS = 5000;
interface Expected {
  expect?: string;
  heads?: string;
}

/** Newest first. */
async function expectedHeads({ expect, heads }: Expected, command: Command): Promise<SealHead[]> {
  const given: SealHead[] = [];
  if (expect !== undefined) {
    given.push(parseHead(expect) ?? command.error('--expect is NUMBER:HASH', { exitCode: 2 }));
  }
  if (heads?.startsWith('https:') === true) {
    command.error('--heads is a file or s3://BUCKET/FOLDER; save what the https address received to a file', {
      exitCode: 2,
    });
  }
  return heads === undefined ? given : [...given, ...(await readHeads(heads))];
}

export function auditCommands(docket: Command, environment: Environment): void {
  const audit = docket.command('audit').description('The audit log, and the chain of hashes that seals it.');
  audit
    .command('verify')
    .description('Check that nothing in the audit log was altered, deleted, put in or moved.')
    .option('--expect <head>', 'a head noted earlier, as "docket audit head" prints it')
    .option('--heads <place>', 'compare with the heads in a file or in s3://BUCKET/FOLDER (see DOCKET_AUDIT_HEADS)')
    .option('--json', 'print {rows, seals, unsealed, head, findings, more}')
    .action(async (options: Json & Expected, command: Command) => {
      const expected = await expectedHeads(options, command);
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
        const [noted] = expected;
        out.say(
          noted === undefined
            ? 'A chain that was made again as a whole, or cut off, is found by heads that are kept elsewhere: see --heads and --expect.'
            : `Compared with heads kept elsewhere, the newest of seal ${noted.number}; ${Math.max(0, head.number - noted.number)} ` +
                'seals since then have none.',
        );
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

/** `docket audit verify`, `docket audit head`: the hash chain that seals the audit log. */
import type { Command } from 'commander';
import type { SealHead } from '../platform/journal/seals.ts';
import { type Environment, type Json, output, progressKeeper } from './command.ts';

interface Expected {
  expect?: string;
  heads?: string;
}

/** Newest first. */
async function expectedHeads({ expect, heads }: Expected, command: Command): Promise<SealHead[]> {
  const { parseHead, readHeads } = await import('../platform/audit/seal-heads.ts');
  const given: SealHead[] = [];
  if (expect !== undefined) {
    given.push(parseHead(expect) ?? command.error('--expect must be NUMBER:HASH', { exitCode: 2 }));
  }
  if (heads?.startsWith('https:') === true) {
    command.error('--heads must be a file or s3://BUCKET/FOLDER; save what the https address received to a file', {
      exitCode: 2,
    });
  }
  return heads === undefined ? given : [...given, ...(await readHeads(heads))];
}

export function auditCommands(docket: Command, environment: Environment): void {
  const audit = docket.command('audit').description('The audit log and its hash chain.');
  audit
    .command('verify')
    .description('Check that no entry of the audit log was altered, deleted, inserted or moved.')
    .option('--expect <head>', 'a head saved earlier, as "docket audit head" prints it')
    .option('--heads <place>', 'compare with the heads in a file or in s3://BUCKET/FOLDER (see DOCKET_AUDIT_HEADS)')
    .option('--json', 'print {rows, seals, unsealed, head, findings, more}')
    .action(async (options: Json & Expected, command: Command) => {
      const expected = await expectedHeads(options, command);
      const out = output(options.json === true);
      const { openDatabase, requireSchema } = await import('./service.ts');
      const { verifyJournal } = await import('../platform/audit/seals-verify.ts');
      const opened = await openDatabase(environment.settings(), () => {}, 'tool');
      try {
        await requireSchema(opened.db, { make: false, newer: false });
        const isDue = progressKeeper();
        const found = await verifyJournal(opened.db, expected, (rows) => {
          if (isDue()) out.say(`${rows} rows`);
        });
        const { rows, seals, unsealed, head, findings, more } = found;
        const listed = findings.map(({ place, kind, says }) => `${place}: ${kind}: ${says}`);
        out.result(found, [
          `${rows} rows, ${seals} seals, ${unsealed} rows not yet sealed; head ${head.number}:${head.hash}`,
          ...listed,
          ...(more > 0 ? [`and ${more} more`] : []),
        ]);
        if (findings.length > 0) throw new Error('the audit log was tampered with or damaged; see the list above.');
        const [noted] = expected;
        out.say(
          noted === undefined
            ? 'To detect a rewritten or truncated chain as well, compare with heads stored elsewhere: use --heads or --expect.'
            : `Compared with heads stored elsewhere up to seal ${noted.number}; ${Math.max(0, head.number - noted.number)} ` +
                'newer seals have no stored head.',
        );
      } finally {
        await opened.close();
      }
    });
  audit
    .command('head')
    .description('Print the newest seal, NUMBER:HASH. Store it where users of the database cannot change it.')
    .option('--json', 'print {number, hash}')
    .action(async (options: Json) => {
      const { openDatabase, requireSchema } = await import('./service.ts');
      const { sealCursor } = await import('../platform/journal/seals.ts');
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

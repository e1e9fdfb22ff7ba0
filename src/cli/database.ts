/** `docket migrate`, `docket migrate-type`, `docket doctor` */
import type { Command } from 'commander';
import { pendingFieldIndexes } from '../bundle/field-indexes.ts';
import type { Environment } from './environment.ts';
import { ownFieldSlice } from '../domain/access/door.ts';
import { registry } from '../domain/metadata/door.ts';
import { migrateTypeBatch, type Unmoved } from '../domain/objects/door.ts';
import { projectMoved } from '../domain/search/door.ts';
import { examineWebhooks } from '../domain/webhooks/door.ts';
import { systemClock } from '../mechanisms/clock.ts';
import { pendingMigrations } from '../mechanisms/db/migrate.ts';
import { outboxSize } from '../mechanisms/journal.ts';
import { openSecretBox } from '../mechanisms/secrets.ts';
import { output } from './output.ts';
import { type Examined, examineDeep } from './deep.ts';
import { examineSearch } from './search.ts';
import { searchParts } from '../rooms.ts';
import { MIGRATIONS, migrateDatabase, openBlobs, openDatabase, openTool } from './service.ts';

interface Json {
  json?: boolean;
}

export function migrateCommands(docket: Command, environment: Environment): void {
  docket
    .command('migrate')
    .description('Bring the database schema up to date.')
    .option('--json', 'print {applied}')
    .action(async (options: Json) => {
      const opened = await openDatabase(environment.settings(), () => {}, 'tool');
      try {
        const applied = await migrateDatabase(opened.db);
        const lines = applied.length === 0 ? ['The schema is up to date.'] : applied.map((name) => `applied ${name}`);
        output(options.json === true).result({ applied }, lines);
      } finally {
        await opened.close();
      }
    });
  docket
    .command('migrate-type <code>')
    .description(
      'Move stored records to the newest version of their type, in batches; interrupt and repeat as you like.',
    )
    .option('--json', 'print {moved, unmoved}')
    .action(async (code: string, options: Json) => {
      const out = output(options.json === true);
      const tool = await openTool(environment.settings(), () => {});
      try {
        let moved = 0;
        const unmoved: Unmoved[] = [];
        const { analysis } = searchParts();
        const batch = async (after: string | null): Promise<string | null> => {
          const result = await tool.work.write(tool.caller, async (ctx) => {
            const moved = await migrateTypeBatch(ctx, code, after);
            projectMoved(ctx, analysis, moved.silently);
            return moved;
          });
          if (result.kind !== 'done') throw new Error('a command without an idempotency key cannot be a replay');
          moved += result.data.moved;
          unmoved.push(...result.data.unmoved);
          out.say(`${moved} moved, ${unmoved.length} not`);
          return result.data.next;
        };
        let next = await batch(null);
        while (next !== null) next = await batch(next);
        const lines = unmoved.map(
          (one) => `${one.number ?? one.id}: ${one.reasons.map((why) => `${why.field}: ${why.reason}`).join('; ')}`,
        );
        out.result({ moved, unmoved }, [`${moved} records moved to the newest version of ${code}.`, ...lines]);
        if (unmoved.length > 0) throw new Error(`${unmoved.length} records keep their version; the list says why.`);
      } finally {
        await tool.close();
      }
    });
}

export function doctorCommand(docket: Command, environment: Environment): void {
  docket
    .command('doctor')
    .description('Check data directory, database, clock, migrations and indexes, and say what to do.')
    .option('--json', 'print the checks as JSON')
    .option('--deep', 'ask every invariant of every row: history, answers, files, search, indexes; takes its time')
    .action(async (options: Json & { deep?: boolean }) => {
      const checks = await examine(environment, options.deep === true);
      const lines = checks.map((check) => `${check.ok ? 'ok  ' : 'FAIL'}  ${check.name}: ${check.says}`);
      output(options.json === true).result(checks, lines);
      if (checks.some((check) => !check.ok)) throw new Error('something needs attention; the list says what.');
    });
}

async function examine(environment: Environment, deep: boolean): Promise<Examined[]> {
  const settings = environment.settings();
  const checks: Examined[] = [];
  const add = (name: string, ok: boolean, says: string): void => {
    checks.push({ name, ok, says });
  };
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  try {
    opened = await openDatabase(settings, () => {}, 'tool');
  } catch (error) {
    add('database', false, error instanceof Error ? error.message : String(error));
    return checks;
  }
  try {
    const server = await opened.db.facts();
    const supported = server.number >= 150_000;
    add('database', supported, `PostgreSQL ${server.version}${supported ? '' : '; use PostgreSQL 15 to 18'}`);
    add('durability', server.fsync === 'on', `fsync is ${server.fsync}`);
    const apart = Math.abs(Date.parse(server.now) - systemClock.now());
    add('clock', apart < 2000, `${apart} ms between this machine and the database`);
    const client = await opened.db.connect();
    let pending: string[];
    try {
      pending = await pendingMigrations(client, MIGRATIONS);
    } finally {
      client.release();
    }
    add(
      'migrations',
      pending.length === 0,
      pending.length === 0 ? 'none pending' : `run docket migrate: ${pending.join(', ')}`,
    );
    if (pending.length > 0) return checks;
  } finally {
    await opened.close();
  }
  const tool = await openTool(settings, () => {});
  try {
    const indexes = await pendingFieldIndexes(tool.db, registry(tool.caller), tool.caller.config.get(ownFieldSlice));
    const says = indexes.length === 0 ? 'none pending' : `${indexes.length} pending; a running service builds them`;
    add('field indexes', true, says);
    const search = await examineSearch(tool, deep);
    add('search projection', search.ok, search.says);
    add('outbox', true, `${await outboxSize(tool.db)} events waiting for dispatch`);
    const { secrets, sealed, failing } = await examineWebhooks(tool.db, await openSecretBox(settings));
    const opened =
      sealed.length === 0 ? `${secrets} open with the master key` : `not of this master key: ${sealed.join(', ')}`;
    add('signing secrets', sealed.length === 0, opened);
    const reached = failing.length === 0 ? 'no enabled one fails' : `the last deliveries failed: ${failing.join(', ')}`;
    add('webhooks', failing.length === 0, reached);
    if (deep) checks.push(...(await examineDeep(tool, openBlobs(settings))));
  } finally {
    await tool.close();
  }
  return checks;
}

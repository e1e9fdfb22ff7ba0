/** `docket migrate`, `docket migrate-type` */
import type { Command } from 'commander';
import type { Environment } from './environment.ts';
import { migrateTypeBatch, type Unmoved } from '../domain/objects/index.ts';
import { projectMoved } from '../domain/search/index.ts';
import { output } from './output.ts';
import { searchParts } from '../modules.ts';
import { migrateDatabase, openDatabase, openTool } from './service.ts';

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
            await projectMoved(ctx, analysis, moved.silently);
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

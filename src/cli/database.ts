/** `docket migrate`, `docket migrate-type`, `docket reindex` */
import type { Command } from 'commander';
import type { Unmoved } from '../domain/objects/index.ts';
import { type Environment, type Json, output } from './command.ts';

export function migrateCommands(docket: Command, environment: Environment): void {
  docket
    .command('migrate')
    .description('Migrate the database schema to this version.')
    .option('--json', 'print {applied}')
    .action(async (options: Json) => {
      const { migrateDatabase, openDatabase } = await import('./service.ts');
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
      'Migrate stored records to the newest version of their type, in batches; can be interrupted and repeated.',
    )
    .option('--json', 'print {moved, unmoved}')
    .action(async (code: string, options: Json) => {
      const out = output(options.json === true);
      const { openTool } = await import('./service.ts');
      const { migrateTypeBatch } = await import('../domain/objects/index.ts');
      const { makeSearchParts, projectMoved } = await import('../domain/search/index.ts');
      const tool = await openTool(environment.settings(), () => {});
      try {
        let moved = 0;
        const unmoved: Unmoved[] = [];
        const { analysis } = makeSearchParts();
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
        if (unmoved.length > 0) throw new Error(`${unmoved.length} records were not migrated; see the list above.`);
      } finally {
        await tool.close();
      }
    });
}

export function reindexCommand(docket: Command, environment: Environment): void {
  docket
    .command('reindex')
    .description(
      'Rebuild the search index while the service runs, and let it rebuild the facts of reports; can be interrupted and repeated.',
    )
    .option('--json', 'print {made, resumed}')
    .action(async (options: { json?: boolean }) => {
      const out = output(options.json === true);
      const { openTool } = await import('./service.ts');
      const { startFactsRebuild } = await import('../domain/reports/index.ts');
      const { beginRebuild, makeSearchParts, stepRebuild } = await import('../domain/search/index.ts');
      const tool = await openTool(environment.settings(), () => {});
      try {
        const parts = makeSearchParts();
        await tool.work.write(tool.caller, async (ctx) => startFactsRebuild(ctx));
        const begun = await tool.work.write(tool.caller, beginRebuild);
        if (begun.kind !== 'done') throw new Error('a command without an idempotency key cannot be a replay');
        const { total, resumed } = begun.data;
        let made = begun.data.done;
        if (resumed) out.say(`resuming after ${made} rows`);
        for (;;) {
          const step = await tool.work.write(tool.caller, (ctx) => stepRebuild(ctx, parts));
          // A running service may have done the last step.
          if (step.kind !== 'done' || step.data === undefined) break;
          made = step.data.done;
          out.say(`${made} of ${total}`);
          if (step.data.finished) break;
        }
        out.result({ made, resumed }, [`${made} rows of the search index rebuilt.`]);
      } finally {
        await tool.close();
      }
    });
}

/** `docket reindex` */
import type { Command } from 'commander';
import { searchParts } from '../modules.ts';
import { beginRebuild, compareProjection, type Comparison, stepRebuild } from '../domain/search/index.ts';
import type { Environment } from './environment.ts';
import { output } from './output.ts';
import { openTool, type Tool } from './service.ts';

export function reindexCommand(docket: Command, environment: Environment): void {
  docket
    .command('reindex')
    .description('Make the search projection anew while the service runs; interrupt and repeat as you like.')
    .option('--json', 'print {made, resumed}')
    .action(async (options: { json?: boolean }) => {
      const out = output(options.json === true);
      const tool = await openTool(environment.settings(), () => {});
      try {
        const parts = searchParts();
        const begun = await tool.work.write(tool.caller, beginRebuild);
        if (begun.kind !== 'done') throw new Error('a command without an idempotency key cannot be a replay');
        const { total, resumed } = begun.data;
        let made = begun.data.done;
        if (resumed) out.say(`going on behind the ${made} that are done`);
        for (;;) {
          const step = await tool.work.write(tool.caller, (ctx) => stepRebuild(ctx, parts));
          // A running service may have done the last step.
          if (step.kind !== 'done' || step.data === undefined) break;
          made = step.data.done;
          out.say(`${made} of ${total}`);
          if (step.data.finished) break;
        }
        out.result({ made, resumed }, [`${made} rows of the search projection made anew.`]);
      } finally {
        await tool.close();
      }
    });
}

/** The search check of `docket doctor`. */
export async function examineSearch(
  tool: Pick<Tool, 'work' | 'caller'>,
  deep: boolean,
): Promise<{ ok: boolean; says: string }> {
  const found: Comparison = await tool.work.read(tool.caller, (ctx) => compareProjection(ctx, searchParts(), deep));
  const { compared, missing, stray, different } = found;
  const ok = missing + stray + different.length === 0;
  if (ok) return { ok, says: `${compared} rows compared, all as they should be` };
  const named = different.length === 0 ? '' : ` (${different.slice(0, 3).join(', ')})`;
  return {
    ok,
    says: `${missing} missing, ${stray} stray, ${different.length} of ${compared} different${named}; run docket reindex`,
  };
}

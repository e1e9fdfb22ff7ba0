import { compareProjection, type Comparison, makeSearchParts } from '../domain/search/index.ts';
import type { Tool } from './service.ts';

/** The search check of `docket doctor`. */
export async function examineSearch(
  tool: Pick<Tool, 'work' | 'caller'>,
  deep: boolean,
): Promise<{ ok: boolean; says: string }> {
  const found: Comparison = await tool.work.read(tool.caller, (ctx) => compareProjection(ctx, makeSearchParts(), deep));
  const { compared, missing, stray, different } = found;
  const ok = missing + stray + different.length === 0;
  if (ok) return { ok, says: `${compared} rows compared, no differences` };
  const named = different.length === 0 ? '' : ` (${different.slice(0, 3).join(', ')})`;
  return {
    ok,
    says: `${missing} missing, ${stray} superfluous, ${different.length} of ${compared} different${named}; run docket reindex`,
  };
}

/** Checks of `docket doctor --deep`: every invariant of the stored data. The service may be running or stopped. */
import type { BlobStore } from '../platform/blobs/store.ts';
import { runCheck } from '../platform/audit/checks.ts';
import { examineIdle, examineIntegrity } from '../platform/database/integrity.ts';
import { CHECKS } from '../modules.ts';
import type { Tool } from './service.ts';

/** One line of the doctor's output. */
export interface Examined {
  name: string;
  ok: boolean;
  says: string;
}

/** @returns one line per invariant, naming the records that violate it */
export async function examineDeep(tool: Pick<Tool, 'db' | 'caller'>, blobs: BlobStore): Promise<Examined[]> {
  const lines: Examined[] = [];
  for (const check of CHECKS) {
    const { total, named } = await runCheck(tool.db, check, { config: tool.caller.config, blobs });
    const more = total > named.length ? ` and ${total - named.length} more` : '';
    lines.push({ name: check.name, ok: total === 0, says: total === 0 ? 'holds' : `${named.join(', ')}${more}` });
  }
  lines.push({ name: 'I12 tables and indexes', ...(await examineIntegrity(tool.db)) });
  lines.push({ name: 'I12 idle transactions', ...(await examineIdle(tool.db)) });
  return lines;
}

/** Shows what each of the first rows would change, without storing anything (docs/spec/configuration.md#administration-api). */
import type { FaultDetail } from '../../lib/fault.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { Caller } from '../../platform/unit-of-work/work.ts';
import { checkContent, contentOf, readRows } from './content.ts';
import { requireDefinition } from './definitions.ts';
import { type Candidate, candidateOf, failure, importRows, type Outcome } from './rows.ts';
import { faultErrors, nextGroup } from './rules.ts';
import type { RowStatus } from './store.ts';
import type { Values } from './target.ts';
import { hidden, readableTargets } from './visibility.ts';
import { isFault } from '../../lib/fault.ts';

const DEFAULT_LIMIT = 100;
/** Rows are imported one by one, so that each row is shown on the state after the rows before it. */
const ONE = { rows: 1, size: Number.POSITIVE_INFINITY };

export interface PreviewRow {
  row: number;
  externalId: string | null;
  status: RowStatus;
  id?: string;
  before: Values | null;
  after: Values | null;
  errors: FaultDetail[];
}

/**
 * Makes a dry run of the first rows. Returns the mapped fields before and after each row, as far as the caller may read them.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, INVALID_REQUEST for malformed content
 */
export async function previewContent(
  { work, caller: given }: Runner,
  input: { definitionId: string; content: string; limit?: number },
): Promise<{ rows: PreviewRow[]; total: number }> {
  given.actor.require('import.execute');
  const caller: Caller = { ...given, via: 'import' };
  const known = requireDefinition(caller, input.definitionId);
  const content = contentOf(input.content);
  const total = await checkContent(content, known.definition);
  const candidates: Candidate[] = [];
  for await (const row of readRows(content, known.definition)) {
    if (candidates.length === (input.limit ?? DEFAULT_LIMIT)) break;
    candidates.push(candidateOf(row, known.definition));
  }
  const outcomes = await work.dryRun(async (units) => {
    const shown: Outcome[] = [];
    let waiting = candidates;
    for (let next = nextGroup(waiting, ONE, false); next.group.length > 0; next = nextGroup(waiting, ONE, false)) {
      const [row] = next.group as [Candidate];
      try {
        const result = await units.write(caller, (ctx) => importRows(ctx, known, [row]));
        if (result.kind === 'done') shown.push(...result.data.outcomes);
      } catch (error) {
        if (!isFault(error) || error.code === 'DATABASE_UNAVAILABLE') throw error;
        shown.push(failure(row, faultErrors(error)));
      }
      waiting = next.rest;
    }
    const found = await units.write(caller, (ctx) =>
      readableTargets(
        ctx,
        known.definition.targetKind,
        shown.map(({ id }) => id),
      ),
    );
    const readable = found.kind === 'done' ? found.data : new Set<string>();
    return shown.map((one) => (one.id === null || readable.has(one.id) ? one : hidden(one)));
  });
  return { rows: outcomes.map(previewRow), total };
}

function previewRow({ row, externalId, status, id, stood, stands, errors }: Outcome): PreviewRow {
  return {
    row,
    externalId,
    status,
    ...(id === null || status === 'CREATED' || status === 'FAILED' ? {} : { id }),
    before: stood,
    after: status === 'FAILED' ? null : stands,
    errors,
  };
}

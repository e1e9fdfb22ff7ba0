/** Resolves the look-ups of mappings in batches: records by a field; users, groups and units by name. */
import type { Found, Lookup, Mapped, Mapping } from '../../lib/mapping.ts';
import { mapRow } from '../../lib/mapping.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { idsByName } from '../identity/index.ts';
import { findType, registry } from '../metadata/index.ts';
import { findByField } from '../objects/index.ts';
import type { SourceRow } from './content.ts';

/** Maximum length of a chain in which one look-up needs the result of another. */
const MOST_ROUNDS = 20;

type Answer = { id: string } | 'none' | 'many';

export interface MappedRow extends Mapped {
  /** The look-ups of the row with their results. */
  asked: { lookup: Lookup; answer: Answer }[];
}

function keyOf({ kind, type, field, text }: Lookup): string {
  return JSON.stringify([kind, type, field, text]);
}

async function answersOf(ctx: ReadContext, wanted: readonly Lookup[]): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  const groups = Map.groupBy(wanted, ({ kind, type, field }) => JSON.stringify([kind, type, field]));
  for (const lookups of groups.values()) {
    const [first] = lookups;
    if (first === undefined) continue;
    const texts = [...new Set(lookups.map(({ text }) => text))];
    const found = await idsOf(ctx, first, texts);
    for (const lookup of lookups) {
      const [id, ...more] = found.get(lookup.text) ?? [];
      answers.set(keyOf(lookup), id === undefined ? 'none' : more.length > 0 ? 'many' : { id });
    }
  }
  return answers;
}

async function idsOf(
  ctx: ReadContext,
  { kind, type, field }: Lookup,
  texts: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (kind !== 'object') return await idsByName(ctx, kind, texts);
  const known = findType(registry(ctx), type);
  return known === undefined ? new Map() : await findByField(ctx, known, field, texts);
}

/** Maps the rows to values, with all look-ups resolved. */
export async function mapRows(ctx: ReadContext, mapping: Mapping, rows: readonly SourceRow[]): Promise<MappedRow[]> {
  const answers = new Map<string, Answer>();
  const mapped = new Map<SourceRow, MappedRow>();
  let waiting = [...rows];
  for (let round = 0; waiting.length > 0; round++) {
    if (round === MOST_ROUNDS) throw new Error('look-ups never come to an end');
    const wanted: Lookup[] = [];
    for (const row of waiting) {
      const asked: MappedRow['asked'] = [];
      const found: Found = (lookup) => {
        const answer = answers.get(keyOf(lookup));
        if (answer !== undefined) asked.push({ lookup, answer });
        return answer;
      };
      const result = mapRow(mapping, row.at, found);
      wanted.push(...result.wanted);
      mapped.set(row, { ...result, asked });
    }
    if (wanted.length === 0) break;
    for (const [key, answer] of await answersOf(ctx, wanted)) answers.set(key, answer);
    waiting = waiting.filter((row) => (mapped.get(row)?.wanted.length ?? 0) > 0);
  }
  return rows.map((row) => mapped.get(row) as MappedRow);
}

/** Names of users, groups and units for the console: by id, and by typed text. The caller checks rights. */
import { fold } from '../../lib/text.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { findKey } from './names.ts';
import { type LocalizedName, listNamed, type NamedKind, searchPeople } from './store-names.ts';

interface Choice {
  id: string;
  name: LocalizedName;
}

function capitalised(text: string): string {
  return text.replaceAll(
    /(^|[\s-])(\p{L})/gu,
    (_match, before: string, letter: string) => before + letter.toUpperCase(),
  );
}

/** LIKE patterns for common spellings of the text: display names are stored without a normal form. */
function patternsOf(text: string): string[] {
  const lower = text.toLowerCase();
  const spellings = new Set([text, lower, capitalised(lower), text.toUpperCase()]);
  return [...spellings].map((spelling) => `%${spelling.replaceAll(/[\\%_]/g, (char) => `\\${char}`)}%`);
}

/** Active items whose name contains the text (empty: all), at most `limit`, sorted by name for users, by code otherwise. */
export async function searchNames(ctx: ReadContext, kind: NamedKind, text: string, limit: number): Promise<Choice[]> {
  const wanted = text.normalize('NFC').trim();
  if (kind === 'user') return await searchPeople(ctx, patternsOf(wanted), findKey(wanted) ?? wanted, limit);
  const folded = fold(wanted);
  const all = await listNamed(ctx, kind);
  const texts = (name: LocalizedName): string[] => (typeof name === 'string' ? [name] : Object.values(name));
  return all.filter(({ name }) => texts(name).some((one) => fold(one).includes(folded))).slice(0, limit);
}

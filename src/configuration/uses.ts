/** Which items of the configuration use the items of a section. */
import { isActive } from '../contract/state.ts';
import { Yielder } from '../lib/yielding.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import { Codes } from './codes.ts';
import { mapNames } from './names.ts';
import { loadStored } from './planner.ts';
import { mayRead } from './require-readable.ts';
import type { ConfigSection } from './section.ts';

export interface Use {
  id: string;
  section: string;
  code: string;
  name: unknown;
}

/**
 * Code of an item → the active items that refer to it. Sections that the caller may not read are left out. The caller may read
 * `target`: the uses of users and groups show the holders of roles.
 */
export async function usesOf(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  target: ConfigSection,
): Promise<Map<string, Use[]>> {
  const yielder = new Yielder();
  const view = await loadStored(ctx, sections, yielder);
  let found = new Set<string>();
  const codes = new Codes({
    seen: (section, code) => {
      if (section === target.key) found.add(view.canonicalCode(section, code));
    },
  });
  for (const { section, code, definition } of view.all()) codes.add(section.key, code, [definition]);
  const uses = new Map<string, Use[]>();
  for (const section of sections) {
    if (!mayRead(ctx, section)) continue;
    for (const entry of view.entries(section.key)) {
      if (!isActive(entry)) continue;
      await yielder.next();
      found = new Set();
      mapNames(section, entry.code, entry.definition, codes);
      const name = section.nameOf(entry.definition, entry.code);
      const use = { id: entry.id, section: section.key, code: entry.code, name };
      for (const code of found) {
        if (section === target && code === entry.code) continue;
        const list = uses.get(code);
        if (list === undefined) uses.set(code, [use]);
        else list.push(use);
      }
    }
  }
  return uses;
}

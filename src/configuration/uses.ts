/** Which items of the configuration use the items of a section. */
import { isActive } from '../contract/state.ts';
import { Turns } from '../lib/yielding.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import { loadStored } from './planner.ts';
import { mayRead } from './rights.ts';
import type { CompileView, ConfigSection } from './section.ts';
import type { Entry, View } from './view.ts';

export interface Use {
  id: string;
  section: string;
  code: string;
  name: unknown;
}

/** A view that reports the items that a compilation checks or names by id: values of conditions and fields refer to items, too. */
function recording(view: View, used: (section: string, code: string) => void): CompileView {
  return {
    has: (section, code) => {
      used(section, code);
      return view.has(section, code);
    },
    get: <Definition>(section: string, code: string) => view.get<Definition>(section, code),
    active: <Definition>(section: string) => view.active<Definition>(section),
    archived: <Definition>(section: string) => view.archived<Definition>(section),
    stored: (section, code) => view.stored(section, code),
    versions: (section, code) => view.versions(section, code),
    nested: (scope, code) => view.nested(scope, code),
    id: (section, code) => {
      used(section, code);
      return view.id(section, code);
    },
  };
}

/** Codes of the items of `target` that the item refers to: its declared references, and those in conditions and values. */
function targetsOf({ section, definition }: Entry, target: ConfigSection, view: View): Set<string> {
  const found = new Set<string>();
  const add = (key: string, code: string): void => {
    if (key === target.key) found.add(view.canonicalCode(key, code));
  };
  for (const { section: key, code } of section.references(definition)) add(key, code);
  section.compile(definition, recording(view, add), () => undefined);
  return found;
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
  const turns = new Turns();
  const view = await loadStored(ctx, sections, turns);
  const uses = new Map<string, Use[]>();
  for (const section of sections) {
    if (!mayRead(ctx, section)) continue;
    for (const entry of view.entries(section.key)) {
      if (!isActive(entry)) continue;
      await turns.next();
      const { name, displayName } = entry.definition as { name?: unknown; displayName?: unknown };
      const use = { id: entry.id, section: section.key, code: entry.code, name: name ?? displayName ?? entry.code };
      for (const code of targetsOf(entry, target, view)) {
        if (section === target && code === entry.code) continue;
        const list = uses.get(code);
        if (list === undefined) uses.set(code, [use]);
        else list.push(use);
      }
    }
  }
  return uses;
}

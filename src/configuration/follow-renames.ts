/** Applies the renames of a bundle to the stored configuration before anything is compared: all items use the new codes. */
import { deepEqualJson, isObject } from '../lib/json.ts';
import { problem } from '../lib/problem.ts';
import { Codes } from './codes.ts';
import type { BundleProblem } from './errors.ts';
import { mapNames } from './names.ts';
import type { RenameEffects } from './naming.ts';
import type { Bundle, BundleItem } from './read.ts';
import { compareParts, originsOf, withRenamed } from './renames.ts';
import type { Entry, View } from './view.ts';

/**
 * Finds the renames, and rewrites stored definitions, versions of types and ids of parts accordingly.
 *
 * @returns the problems of renames that are not possible
 */
export function followRenames(view: View, bundle: Bundle): BundleProblem[] {
  const problems: BundleProblem[] = [];
  const items = storedItems(view, bundle, problems);
  const codes = new Codes();
  for (const entry of view.all()) {
    const { section, code, stored } = entry;
    if (stored === undefined) continue;
    const versions = view.versions(section.key, code).map(({ compiled }) => compiled);
    codes.add(section.key, code, [...versions, stored.definition]);
    const named = items.get(entry);
    if (named !== undefined && named.code !== code && section.renamable) codes.rename(section.key, code, named.code);
    if (!section.hasParts) continue;
    const compiled = [...versions, stored.compiled];
    const parts = compareParts(section.schema, named?.item ?? stored.definition, stored.definition, compiled);
    if (named !== undefined) problems.push(...parts.problems.map(({ path, found }) => named.problem(path, found)));
    entry.renamed = parts.renamed;
    entry.partRenames = parts.renames;
    entry.gone = named?.item === undefined ? [] : parts.gone;
    for (const { list, from, to } of parts.renames) codes.rename(`${section.key}/${code}${list}`, from, to);
  }
  if (codes.isEmpty || problems.length > 0) return problems;
  const clashes = view.renameNested((path) => codes.path(path));
  for (const [entry, named] of items) {
    const path = `${entry.section.key}/${entry.code}/`;
    for (const [of, code] of clashes)
      if (of.startsWith(path)) problems.push(named.problem([], problem('CODE_NOT_REUSABLE', { code })));
  }
  const entries = [...view.all()];
  for (const entry of entries) rewrite(view, entry, codes);
  return problems;
}

/** The bundle's item for each stored one, also under its new code. */
function storedItems(view: View, bundle: Bundle, problems: BundleProblem[]): Map<Entry, BundleItem> {
  const found = new Map<Entry, BundleItem>();
  for (const [section, items] of Map.groupBy(bundle.items, (named) => named.section)) {
    const list = items.map(({ code, item }) => ({ code, was: isObject(item) ? item['was'] : undefined }));
    const stored = [...view.entries(section.key)].map(({ code, stored }) => ({
      code,
      former: stored?.formerCodes ?? [],
    }));
    const old = new Map(stored.map((one) => [one.code, one]));
    const origins = originsOf(section.renamable ? list : [], old, stored, (index, property, wrong) => {
      const named = items[index];
      if (named !== undefined) problems.push(named.problem([property], wrong));
    });
    for (const [index, named] of items.entries()) {
      const entry = view.entry(section.key, origins.get(index) ?? named.code);
      if (entry !== undefined) found.set(entry, named);
    }
  }
  return found;
}

function rewrite(view: View, entry: Entry, codes: Codes): void {
  const { section, code, stored } = entry;
  // Nothing that users, groups and units name can be renamed in a bundle.
  if (stored === undefined || section.identity) return;
  const to = codes.code(section.key, code);
  const own = (value: unknown, effects?: RenameEffects): unknown => {
    const mapped = mapNames(section, code, value, codes, effects);
    return to === code || !isObject(mapped) ? mapped : { ...mapped, code: to };
  };
  const definition = own(stored.definition, entry.effects);
  const compiled = withRenamed(section.schema, own(stored.compiled), entry.renamed);
  view.mapVersions(entry, (version) => withRenamed(section.schema, own(version), entry.renamed));
  if (to === code && deepEqualJson(definition, stored.definition)) return;
  Object.assign(entry, {
    original: stored,
    stored: { ...stored, code: to, definition, compiled },
    definition,
    compiled,
  });
  if (to !== code) view.rename(entry, to);
}

/** Applies the renames of a bundle to the stored configuration before anything is compared: all items use the new codes. */
import { deepEqualJson, isObject } from '../lib/json.ts';
import { type Problem, problem } from '../lib/problem.ts';
import type { Bundle, BundleItem } from './read.ts';
import type { BundleProblem } from './errors.ts';
import { mapNames } from './names.ts';
import type { RenameEffects } from './naming.ts';
import { PlannedCodes } from './planned-codes.ts';
import { compareParts, formerCodes, type PartRename, withRenamed } from './renames.ts';
import type { Entry, View } from './view.ts';

interface Move {
  entry: Entry;
  from: string;
  to: string;
}

/**
 * Finds the renames, and rewrites stored definitions, versions of types and ids of parts accordingly.
 *
 * @returns the problems of renames that are not possible
 */
export function followRenames(view: View, bundle: Bundle): BundleProblem[] {
  const problems: BundleProblem[] = [];
  const codes = new PlannedCodes();
  for (const { section, code, stored } of view.all()) {
    if (stored !== undefined)
      codes.add(section.key, code, stored.definition, compiledVersions(view, section.key, code));
  }
  const moves = itemMoves(view, bundle, problems);
  for (const { entry, from, to } of moves) codes.renameItem(entry.section.key, from, to);
  const byEntry = namedBy(view, bundle, moves);
  const parts = new Map<Entry, PartRename[]>();
  for (const entry of view.all()) {
    const { section, code, stored } = entry;
    if (stored === undefined || !section.hasParts) continue;
    const named = byEntry.get(entry);
    const compiled = [...compiledVersions(view, section.key, code), stored.compiled];
    const found = compareParts(section.schema, named?.item ?? stored.definition, stored.definition, compiled);
    for (const { path, found: wrong } of found.problems)
      if (named !== undefined) problems.push(named.problem(path, wrong));
    entry.renamed = found.renamed;
    entry.partRenames = found.renames;
    entry.gone = named?.item === undefined ? [] : found.gone;
    parts.set(entry, found.renames);
    for (const rename of found.renames) codes.renamePart(section.key, code, rename);
  }
  if (codes.isEmpty || problems.length > 0) return problems;
  rewrite(view, codes, new Map(moves.map(({ entry, to }) => [entry, to])));
  for (const [entry, renames] of parts) {
    const to = moves.find((move) => move.entry === entry)?.to ?? entry.code;
    const clash = view.renameNested(entry.section.key, entry.code, to, renames);
    const named = byEntry.get(entry);
    if (clash !== undefined && named !== undefined)
      problems.push(named.problem([], problem('CODE_NOT_REUSABLE', { code: clash })));
  }
  for (const { entry, from, to } of moves) view.rename(entry, from, to);
  return problems;
}

function compiledVersions(view: View, section: string, code: string): unknown[] {
  return view.versions(section, code).map(({ compiled }) => compiled);
}

/** The bundle's item for each stored one, also under its new code. */
function namedBy(view: View, bundle: Bundle, moves: readonly Move[]): Map<Entry, BundleItem> {
  const moved = new Map(moves.map(({ entry, to }) => [`${entry.section.key} ${to}`, entry]));
  const found = new Map<Entry, BundleItem>();
  for (const named of bundle.items) {
    const entry = moved.get(`${named.section.key} ${named.code}`) ?? view.entry(named.section.key, named.code);
    if (entry !== undefined) found.set(entry, named);
  }
  return found;
}

function itemMoves(view: View, bundle: Bundle, problems: BundleProblem[]): Move[] {
  const moves: Move[] = [];
  const claimed = new Set<Entry>();
  const listed = new Map(bundle.items.map((named) => [`${named.section.key} ${named.key}`, named]));
  for (const named of bundle.items) {
    const { section, code, item } = named;
    if (!section.renamable || !isObject(item)) continue;
    const report = (name: string, found: Problem, at = named): void => {
      problems.push(at.problem([name], found));
    };
    const owner = [...view.entries(section.key)].find(({ stored }) => stored?.formerCodes?.includes(code) === true);
    const there = view.entry(section.key, code) !== undefined;
    const olds = formerCodes(item['was']).filter((old) => old !== code && view.entry(section.key, old) !== undefined);
    const [from, ...others] = olds;
    const entry = from === undefined ? undefined : view.entry(section.key, from);
    if (from === undefined || entry === undefined) {
      if (!there && owner !== undefined) report(section.codeProperty, problem('CODE_NOT_REUSABLE', { code }));
      continue;
    }
    if (there) report('was', problem('RENAME_TARGET_EXISTS', { code, was: from }));
    else if (others.length > 0 || claimed.has(entry)) report('was', problem('RENAME_AMBIGUOUS', { code }));
    else {
      if (owner !== undefined && owner !== entry) report(section.codeProperty, problem('CODE_NOT_REUSABLE', { code }));
      const other = listed.get(`${section.key} ${section.keyOf(from)}`);
      if (other !== undefined) report(section.codeProperty, problem('CODE_NOT_REUSABLE', { code: from }), other);
      moves.push({ entry, from, to: code });
    }
    claimed.add(entry);
  }
  return moves;
}

function rewrite(view: View, codes: PlannedCodes, moved: ReadonlyMap<Entry, string>): void {
  for (const entry of view.all()) {
    const { section, code, stored } = entry;
    // Nothing that users, groups and units name can be renamed in a bundle.
    if (stored === undefined || section.identity) continue;
    const to = moved.get(entry);
    const own = (value: unknown, effects?: RenameEffects): unknown => {
      const mapped = mapNames(section, code, value, codes, effects);
      return to === undefined || !isObject(mapped) ? mapped : { ...mapped, [section.codeProperty]: to };
    };
    const definition = own(stored.definition, entry.effects);
    const compiled = withRenamed(section.schema, own(stored.compiled), entry.renamed);
    view.mapVersions(entry, (version) => withRenamed(section.schema, own(version), entry.renamed));
    if (to === undefined && deepEqualJson(definition, stored.definition)) continue;
    entry.original = stored;
    entry.stored = { ...stored, code: to ?? stored.code, definition, compiled };
    entry.definition = definition;
    entry.compiled = compiled;
  }
}

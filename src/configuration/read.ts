/** Reads the files of a bundle into items with their positions (docs/spec/configuration.md#bundle). */
import type { ConfigSection, ItemPath } from './section.ts';
import { parseDocumentTask, unreadable, weightOf } from './document.ts';
import { type Problem, problem, ProblemError, withNearNames } from '../lib/problem.ts';
import { faultAt } from '../lib/fault.ts';
import { Yielder } from '../lib/yielding.ts';
import { Threads } from '../platform/threads.ts';
import { BundleError, type BundleProblem, pathText } from './errors.ts';
import { BundleDocument, type ParsedDocument, type ParsedMember } from './places.ts';
import type { TSchema } from 'typebox';
import { type JsonSchema, type Mismatch, mismatches } from '../lib/json-schema.ts';

export interface BundleFile {
  name: string;
  text: string;
}

/** An item of a bundle, not yet validated in the context of the whole configuration. */
export interface BundleItem {
  section: ConfigSection;
  code: string;
  /** The normalised code, used for comparisons within the section. */
  key: string;
  /** Undefined if the shape is invalid, which has been reported. */
  item: unknown;
  problem(path: ItemPath, found: Problem): BundleProblem;
}

export interface Bundle {
  items: BundleItem[];
  problems: BundleProblem[];
  /** Keys of the sections that the bundle names, even without items. */
  sections: ReadonlySet<string>;
}

interface Source {
  file: string;
  document: BundleDocument;
}

/** Problems whose position is the name of the property rather than its value. */
const ABOUT_KEYS: ReadonlySet<string> = new Set(['UNKNOWN_KEY', 'UNKNOWN_SECTION', 'DUPLICATE']);

function problemAt(source: Source, path: ItemPath, found: Problem): BundleProblem {
  const place = source.document.locate(path, ABOUT_KEYS.has(found.code));
  return { file: source.file, ...place, path: pathText(path), ...found };
}

/** Length from which a file is always parsed in a worker thread, in characters. */
const LONG = 100_000;

/** Maximum number of problems collected per bundle. Users read fewer, and each costs time and memory. */
const MAX_PROBLEMS = 1000;

/** A separate pool: a large bundle takes many seconds, and other callers should not wait for it. */
const bundleThreads = new Threads({ longMs: 30_000, heapMb: 1024, waiting: 20, waitingOfCaller: 5 });

/**
 * Reads all files and collects problems that can be found without context: syntax, unknown keys, shapes, duplicate codes. Files
 * that are not small are parsed in a worker thread; the remaining work is split into short slices.
 *
 * @param caller the caller whose share of the worker threads is used
 * @throws BundleError if a file is not valid YAML, since references to it could not be checked
 * @throws Fault INVALID_REQUEST if there are files and none has a section; OVERLOADED if too many bundles are waiting
 */
export async function readBundle(
  files: readonly BundleFile[],
  sections: readonly ConfigSection[],
  caller: string | null,
): Promise<Bundle> {
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  const yielder = new Yielder();
  const sources: Source[] = [];
  for (const { name, text } of sorted) {
    sources.push({ file: name, document: new BundleDocument(await parse(text, caller)) });
    await yielder.next();
  }
  const wrong = sources.flatMap(({ file, document }) =>
    document.problems.map((problem) => ({ file, ...problem, path: pathText(problem.path) })),
  );
  if (wrong.length > 0) throw new BundleError(wrong);
  const reading = new Reading(sections, yielder);
  for (const source of sources) await reading.file(source);
  if (files.length > 0 && reading.named.size === 0 && reading.problems.length === 0) {
    throw faultAt('INVALID_REQUEST', '/files/0/text', 'NO_SECTIONS');
  }
  return { items: reading.items, problems: reading.problems, sections: reading.named };
}

async function parse(text: string, caller: string | null): Promise<ParsedDocument> {
  // A long text is parsed in a worker anyway, so its weight is not needed.
  const size = text.length > LONG ? text.length : weightOf(text);
  const result = await bundleThreads.run(parseDocumentTask, text, { size, caller, long: true });
  return result.ok ? result.value : unreadable();
}

class Reading {
  readonly items: BundleItem[] = [];
  readonly problems: BundleProblem[] = [];
  readonly named = new Set<string>();
  readonly #sections: ReadonlyMap<string, ConfigSection>;
  readonly yielder: Yielder;
  readonly #places = new Map<string, string>();

  constructor(sections: readonly ConfigSection[], yielder: Yielder) {
    this.#sections = new Map(sections.map((section) => [section.key, section]));
    this.yielder = yielder;
  }

  /** @throws BundleError if there are more problems than are collected */
  async file(source: Source): Promise<void> {
    const { document } = source;
    // A file that is empty or only contains comments is ignored.
    if (document.kind === 'empty') return;
    if (document.kind === 'other') {
      this.problems.push(problemAt(source, [], problem('NOT_A_BUNDLE')));
      return;
    }
    for (const member of document.members) {
      const section = this.#sections.get(member.key);
      if (section === undefined) {
        const known = [...this.#sections.keys()];
        const found = problem('UNKNOWN_SECTION', { key: member.key, known });
        this.problems.push(problemAt(source, [member.key], withNearNames(found, member.key, known)));
      } else await this.#section(source, section, member);
      if (this.problems.length > MAX_PROBLEMS) throw new BundleError(this.problems);
    }
  }

  async #section(source: Source, section: ConfigSection, member: ParsedMember): Promise<void> {
    this.named.add(section.key);
    if (section.shape === 'map') {
      const content = member.list ? [] : source.document.item(member, 0);
      this.#item(source, section, content, [section.key]);
      return;
    }
    if (!member.list) {
      // `types:` without a value is an empty list.
      if (source.document.item(member, 0) === null) return;
      this.problems.push(problemAt(source, [section.key], problem('SECTION_NOT_LIST', { key: section.key })));
      return;
    }
    for (const index of member.json.keys()) {
      this.#item(source, section, source.document.item(member, index), [section.key, index]);
      if (this.problems.length > MAX_PROBLEMS) throw new BundleError(this.problems);
      await this.yielder.next();
    }
  }

  #item(source: Source, section: ConfigSection, content: unknown, base: ItemPath): void {
    const at = (path: ItemPath, found: Problem): BundleProblem => problemAt(source, [...base, ...path], found);
    const wrong = shapeProblems(section.schema, content);
    for (const { path, problem: found } of wrong) this.problems.push(at(path, found));
    const sound = wrong.length === 0;
    const code = sound ? section.codeOf(content) : claimedCode(section, content);
    if (code === undefined) return;
    const codePath = section.shape === 'list' ? [section.codeProperty] : [];
    let key: string;
    try {
      key = section.keyOf(code);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      this.problems.push(at(codePath, error.problem));
      return;
    }
    const id = `${section.key} ${key}`;
    const first = this.#places.get(id);
    if (first !== undefined) {
      this.problems.push(at(codePath, duplicate(section, code, first)));
      return;
    }
    const { line } = source.document.locate(base);
    this.#places.set(id, `${source.file}:${line}`);
    this.items.push({ section, code, key, item: sound ? content : undefined, problem: at });
  }
}

function duplicate(section: ConfigSection, code: string, place: string): Problem {
  if (section.shape === 'map') return problem('DUPLICATE_SECTION', { section: section.key, place });
  if (section.codeProperty === 'login') return problem('DUPLICATE_LOGIN', { login: code, place });
  return problem('DUPLICATE_CODE', { code, place });
}

/** Where the item does not match the schema of its section. */
export function shapeProblems(schema: TSchema, item: unknown): Mismatch[] {
  return mismatches(schema as JsonSchema, item, { most: MAX_PROBLEMS, unknown: unknownKey, quotes: true });
}

function unknownKey(name: string, schema: JsonSchema): Problem {
  const known = Object.keys(schema.properties ?? {});
  const [pattern] = Object.keys(schema.patternProperties ?? {});
  if (known.length > 0) return withNearNames(problem('UNKNOWN_KEY', { name, known }), name, known);
  return pattern === undefined ? problem('UNEXPECTED_KEY', { name }) : problem('KEY_MISMATCH', { name, pattern });
}

/** The code of an item with an invalid shape, so that references to it are not reported as well. */
function claimedCode(section: ConfigSection, content: unknown): string | undefined {
  if (section.shape === 'map') return section.key;
  if (typeof content !== 'object' || content === null || !Object.hasOwn(content, section.codeProperty))
    return undefined;
  const code = (content as Record<string, unknown>)[section.codeProperty];
  return typeof code === 'string' && code !== '' ? code : undefined;
}

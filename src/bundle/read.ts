/** From the files of a bundle to its items, each with the place where it stands (configuration, section 3). */
import type { ConfigSection, ItemPath } from '../mechanisms/config-section.ts';
import { parseDocumentTask, unreadable, weightOf } from './document.ts';
import { Turns } from '../lib/turns.ts';
import { Threads } from '../mechanisms/threads.ts';
import { BundleError, type BundleProblem, pathText } from './errors.ts';
import { BundleDocument, type ParsedDocument, type ParsedMember } from './places.ts';
import { checkShape } from './shape.ts';

export interface BundleFile {
  name: string;
  text: string;
}

/** An entry of a bundle, read but not yet judged within the whole. */
export interface BundleItem {
  section: ConfigSection;
  code: string;
  /** The form in which codes of the section are compared. */
  key: string;
  /** Undefined where the shape is wrong, which was reported. */
  item: unknown;
  problem(path: ItemPath, code: string, message: string): BundleProblem;
}

export interface Bundle {
  items: BundleItem[];
  problems: BundleProblem[];
  /** Keys of the sections that the bundle names, with items or without. */
  sections: ReadonlySet<string>;
}

interface Source {
  file: string;
  document: BundleDocument;
}

/** Reasons for which the place that matters is the name of a property, not its value. */
const ABOUT_KEYS: ReadonlySet<string> = new Set(['UNKNOWN_KEY', 'UNKNOWN_SECTION', 'DUPLICATE']);

function problemAt(source: Source, path: ItemPath, code: string, message: string): BundleProblem {
  const place = source.document.locate(path, ABOUT_KEYS.has(code));
  return { file: source.file, ...place, path: pathText(path), code, message };
}

/** Characters of a file that is parsed in a worker thread whatever stands in it. */
const LONG = 100_000;

/** Problems of one bundle that are collected; a person reads fewer, and each costs time and memory. */
const MOST_PROBLEMS = 1000;

/** A pool apart, since a large bundle takes many seconds, and no other caller should wait for it. */
const bundleThreads = new Threads({ longMs: 30_000, heapMb: 1024, waiting: 20, waitingOfCaller: 5 });

/**
 * Reads all files and lists what is wrong with them by themselves: syntax, unknown keys, shapes, codes that stand twice. Files
 * that are not small are parsed in a worker thread; the rest is cut into short pieces.
 *
 * @param caller whose turn it takes
 * @throws BundleError where a file cannot be read as YAML, since nothing can then be said of what the rest refers to
 * @throws Fault OVERLOADED where too many bundles wait
 */
export async function readBundle(
  files: readonly BundleFile[],
  sections: readonly ConfigSection[],
  caller: string | null,
): Promise<Bundle> {
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  const turns = new Turns();
  const sources: Source[] = [];
  for (const { name, text } of sorted) {
    sources.push({ file: name, document: new BundleDocument(await parse(text, caller)) });
    await turns.next();
  }
  const wrong = sources.flatMap(({ file, document }) =>
    document.problems.map((problem) => ({ file, ...problem, path: pathText(problem.path) })),
  );
  if (wrong.length > 0) throw new BundleError(wrong);
  const reading = new Reading(sections, turns);
  for (const source of sources) await reading.file(source);
  return { items: reading.items, problems: reading.problems, sections: reading.named };
}

async function parse(text: string, caller: string | null): Promise<ParsedDocument> {
  // A long text need not be weighed.
  const size = text.length > LONG ? text.length : weightOf(text);
  const result = await bundleThreads.run(parseDocumentTask, text, { size, caller, long: true });
  return result.ok ? result.value : unreadable();
}

class Reading {
  readonly items: BundleItem[] = [];
  readonly problems: BundleProblem[] = [];
  readonly named = new Set<string>();
  readonly #sections: ReadonlyMap<string, ConfigSection>;
  readonly #turns: Turns;
  readonly #places = new Map<string, string>();

  constructor(sections: readonly ConfigSection[], turns: Turns) {
    this.#sections = new Map(sections.map((section) => [section.key, section]));
    this.#turns = turns;
  }

  /** @throws BundleError where there are more problems than are collected */
  async file(source: Source): Promise<void> {
    const { document } = source;
    // An empty file, or one of comments alone, says nothing.
    if (document.kind === 'empty') return;
    if (document.kind === 'other') {
      this.problems.push(
        problemAt(source, [], 'WRONG_TYPE', 'A bundle file is a mapping of sections, such as "types:".'),
      );
      return;
    }
    for (const member of document.members) {
      const section = this.#sections.get(member.key);
      if (section === undefined) {
        const known = [...this.#sections.keys()].join(', ');
        this.problems.push(
          problemAt(source, [member.key], 'UNKNOWN_SECTION', `There is no section ${member.key}; known are ${known}.`),
        );
      } else await this.#section(source, section, member);
      if (this.problems.length > MOST_PROBLEMS) throw new BundleError(this.problems);
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
      // `types:` with nothing behind it is an empty list.
      if (source.document.item(member, 0) === null) return;
      this.problems.push(
        problemAt(source, [section.key], 'WRONG_TYPE', `${section.key} is a list; begin each item with "- ".`),
      );
      return;
    }
    for (const index of member.json.keys()) {
      this.#item(source, section, source.document.item(member, index), [section.key, index]);
      if (this.problems.length > MOST_PROBLEMS) throw new BundleError(this.problems);
      await this.#turns.next();
    }
  }

  #item(source: Source, section: ConfigSection, content: unknown, base: ItemPath): void {
    const problem = (path: ItemPath, code: string, message: string): BundleProblem =>
      problemAt(source, [...base, ...path], code, message);
    const sound = checkShape(section.schema, content, (...parts) => this.problems.push(problem(...parts)));
    const code = sound ? section.codeOf(content) : claimedCode(section, content);
    if (code === undefined) return;
    const codePath = section.shape === 'list' ? [section.codeProperty] : [];
    let key: string;
    try {
      key = section.keyOf(code);
    } catch (error) {
      this.problems.push(problem(codePath, 'WRONG_FORMAT', (error as Error).message));
      return;
    }
    const id = `${section.key} ${key}`;
    const first = this.#places.get(id);
    if (first !== undefined) {
      const what = section.shape === 'map' ? section.key : `${section.codeProperty} ${code}`;
      this.problems.push(problem(codePath, 'DUPLICATE', `The ${what} stands twice; it stands first at ${first}.`));
      return;
    }
    const { line } = source.document.locate(base);
    this.#places.set(id, `${source.file}:${line}`);
    this.items.push({ section, code, key, item: sound ? content : undefined, problem });
  }
}

/** The code of an item whose shape is wrong, so that what refers to it is not reported as well. */
function claimedCode(section: ConfigSection, content: unknown): string | undefined {
  if (section.shape === 'map') return section.key;
  if (typeof content !== 'object' || content === null || !Object.hasOwn(content, section.codeProperty))
    return undefined;
  const code = (content as Record<string, unknown>)[section.codeProperty];
  return typeof code === 'string' && code !== '' ? code : undefined;
}

/** From the files of a bundle to its items, each with the place where it stands (configuration, section 3). */
import type { ConfigSection, ItemPath } from '../mechanisms/config-section.ts';
import { type BundleDocument, readDocument } from './document.ts';
import { BundleError, type BundleProblem, pathText } from './errors.ts';
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

/**
 * Reads all files and lists what is wrong with them by themselves: syntax, unknown keys, shapes, codes that stand twice.
 *
 * @throws BundleError where a file cannot be read as YAML, since nothing can then be said of what the rest refers to
 */
export function readBundle(files: readonly BundleFile[], sections: readonly ConfigSection[]): Bundle {
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  const sources = sorted.map(({ name, text }): Source => ({ file: name, document: readDocument(text) }));
  const unreadable = sources.flatMap(({ file, document }) =>
    document.problems.map((problem) => ({ file, ...problem, path: pathText(problem.path) })),
  );
  if (unreadable.length > 0) throw new BundleError(unreadable);
  const reading = new Reading(sections);
  for (const source of sources) reading.file(source);
  return { items: reading.items, problems: reading.problems, sections: reading.named };
}

class Reading {
  readonly items: BundleItem[] = [];
  readonly problems: BundleProblem[] = [];
  readonly named = new Set<string>();
  readonly #sections: ReadonlyMap<string, ConfigSection>;
  readonly #places = new Map<string, string>();

  constructor(sections: readonly ConfigSection[]) {
    this.#sections = new Map(sections.map((section) => [section.key, section]));
  }

  file(source: Source): void {
    const { value } = source.document;
    // An empty file, or one of comments alone, says nothing.
    if (value === null) return;
    if (typeof value !== 'object' || Array.isArray(value)) {
      this.problems.push(
        problemAt(source, [], 'WRONG_TYPE', 'A bundle file is a mapping of sections, such as "types:".'),
      );
      return;
    }
    for (const [key, content] of Object.entries(value)) {
      const section = this.#sections.get(key);
      if (section === undefined) {
        const known = [...this.#sections.keys()].join(', ');
        this.problems.push(
          problemAt(source, [key], 'UNKNOWN_SECTION', `There is no section ${key}; known are ${known}.`),
        );
      } else this.#section(source, section, content);
    }
  }

  #section(source: Source, section: ConfigSection, content: unknown): void {
    this.named.add(section.key);
    if (section.shape === 'map') {
      this.#item(source, section, content, [section.key]);
      return;
    }
    // `types:` with nothing behind it is an empty list.
    if (content === null) return;
    if (!Array.isArray(content)) {
      this.problems.push(
        problemAt(source, [section.key], 'WRONG_TYPE', `${section.key} is a list; begin each item with "- ".`),
      );
      return;
    }
    for (const [index, item] of content.entries()) this.#item(source, section, item, [section.key, index]);
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

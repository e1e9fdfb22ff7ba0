/** Answers questions from an index that is brought up to date before each of them. Runs in the thread that holds the index. */
import type { MemoryIndex } from './memory-index.ts';
import type { Answer, Ask } from './messages.ts';
import { MemorySearch } from './search.ts';

/** What keeps the index equal to the committed records; `MemoryFollower` does. */
export interface Followed {
  /** A new object after everything was read again. */
  readonly index: MemoryIndex;
  /** Whether the index has every change that was acknowledged before the call. */
  catchUp(): Promise<boolean>;
}

const STATEMENT: Answer = { kind: 'statement' };

export class MemoryServer {
  readonly #followed: Followed;
  readonly #columns: ReadonlySet<string>;
  #search: { index: MemoryIndex; by: MemorySearch } | undefined;

  /** @param columns names of the columns that the index has */
  constructor(followed: Followed, columns: ReadonlySet<string>) {
    this.#followed = followed;
    this.#columns = columns;
  }

  async answer(ask: Ask): Promise<Answer> {
    if (!(await this.#followed.catchUp())) return STATEMENT;
    const search = this.#current();
    if (!search.canAnswer(ask.scope)) return STATEMENT;
    if (ask.kind === 'sample') return { kind: 'sample', ...search.sample(ask.scope, ask.needs, ask.size) };
    const { scope, need, page, ranking } = ask;
    const found = search.find(scope, need, page);
    const ranks = ranking === null ? null : search.ranks(scope, found, ranking);
    return {
      kind: 'found',
      found: found.map(({ segment, doc }, at) => ({
        id: segment.id(doc),
        rank: ranks?.[at] ?? null,
        size: segment.parts.sizes[doc] as number,
      })),
    };
  }

  #current(): MemorySearch {
    const { index } = this.#followed;
    if (this.#search?.index !== index) this.#search = { index, by: new MemorySearch(index, this.#columns) };
    return this.#search.by;
  }
}

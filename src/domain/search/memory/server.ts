/** Answers questions from an index that is brought up to date before them. Runs in the thread that holds the index. */
import type { BestQuestion, Word } from '../query.ts';
import type { FollowerState } from './follower.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { Answer, Ask, FoundRecords, MemoryScope } from './messages.ts';
import { MemorySearch } from './search.ts';
import { ID_LENGTH } from './segment.ts';
import type { Found } from './walk.ts';

/** What keeps the index equal to the committed records; `MemoryFollower` does. */
export interface Followed {
  /** A new object after everything was read again. */
  readonly index: MemoryIndex;
  readonly state: FollowerState;
  /** Names of the columns that the index has. */
  readonly columns: ReadonlySet<string>;
  /** Reads everything again, with further columns. */
  addColumns(names: readonly string[]): void;
  /** Whether the index has every change that was acknowledged before the call. */
  catchUp(): Promise<boolean>;
}

const STATEMENT: Answer = { kind: 'statement' };

export class MemoryServer {
  readonly #followed: Followed;
  #search: { index: MemoryIndex; by: MemorySearch } | undefined;

  constructor(followed: Followed) {
    this.#followed = followed;
  }

  async answer(ask: Ask): Promise<Answer> {
    const followed = this.#followed;
    const isReady = ask.fresh ? await followed.catchUp() : followed.state === 'ready';
    if (!isReady) return STATEMENT;
    const { index, columns } = followed;
    if (this.#search?.index !== index) this.#search = { index, by: new MemorySearch(index) };
    const search = this.#search.by;
    const { scope } = ask;
    const missing = search.missingColumns(scope, columns);
    if (missing.length > 0) {
      // A role or a type has changed. Values of system fields without a column are never there.
      followed.addColumns(missing.filter((name) => !name.startsWith('$')));
      return STATEMENT;
    }
    switch (ask.kind) {
      case 'sample':
        return { kind: 'sample', ...search.sample(scope, ask.words, ask.size) };
      case 'find': {
        const found = search.find(scope, ask.steps, ask.page);
        const ranks = ask.ranking === null ? null : search.ranks(scope, found, ask.ranking);
        return { kind: 'found', found: foundRecords(found, ranks) };
      }
      case 'best':
        return bestAnswer(search, scope, ask);
      case 'rank': {
        const found = search.byIds(ask.ids);
        return { kind: 'found', found: foundRecords(found, search.ranks(scope, found, ask.ranking)) };
      }
      case 'occurrences':
        return occurrencesOf(search, scope, search.byIds(ask.ids), ask.words);
    }
  }
}

function occurrencesOf(
  search: MemorySearch,
  scope: MemoryScope,
  found: readonly Found[],
  words: readonly Word[],
): Answer {
  const occurrences = search.occurrences(scope, found, words);
  return { kind: 'occurrences', found: foundRecords(found, null), occurrences };
}

/** Few matches with the occurrences of the words, which reranking needs; of many matches, a page of ranked ones. */
function bestAnswer(search: MemorySearch, scope: MemoryScope, question: BestQuestion): Answer {
  const { words, counted, ranked, few, ranking } = question;
  const found = search.find(scope, [words], { limit: counted, offset: 0, except: [] });
  if (found.length <= few) return occurrencesOf(search, scope, found, ranking.words);
  const titled = search.find(scope, [question.titled], { limit: ranked, offset: 0, except: [] });
  const page = search.best(scope, found, titled, question);
  return {
    kind: 'best',
    count: found.length,
    titled: foundRecords(titled, null),
    found: foundRecords(page.found, page.scores),
  };
}

function foundRecords(found: readonly Found[], ranks: Float64Array | null): FoundRecords {
  const ids = Buffer.allocUnsafe(ID_LENGTH * found.length);
  const sizes = new Uint32Array(found.length);
  for (const [at, { segment, doc }] of found.entries()) {
    segment.writeId(doc, ids, ID_LENGTH * at);
    sizes[at] = segment.parts.sizes[doc] as number;
  }
  return { ids: ids.toString('latin1'), ranks, sizes };
}

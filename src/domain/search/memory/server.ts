/** Answers questions from an index that is brought up to date before them. Runs in the thread that holds the index. */
import type { FollowerState } from './follower.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { Answer, Ask, FoundRecords } from './messages.ts';
import type { TermQuery } from '../terms.ts';
import { type BestQuestion, MemorySearch, type Ranking, type Scope } from './search.ts';
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
    const search = this.#current();
    const { scope } = ask;
    const missing = search.missingColumns(scope, followed.columns);
    if (missing.length > 0) {
      // A role or a type has changed. Values of system fields without a column are never there.
      followed.addColumns(missing.filter((name) => !name.startsWith('$')));
      return STATEMENT;
    }
    if (!search.hasState(scope)) return STATEMENT;
    switch (ask.kind) {
      case 'sample':
        return { kind: 'sample', ...search.sample(scope, ask.needs, ask.size) };
      case 'find':
        return answerWith(search, scope, search.find(scope, ask.need, ask.page), ask.ranking);
      case 'best':
        return bestAnswer(search, scope, ask);
      case 'steps':
        return answerWith(search, scope, search.findInSteps(scope, ask.needs, ask.limit, ask.except), ask.ranking);
      case 'rank':
        return answerWith(search, scope, search.byIds(ask.ids), ask.ranking);
      case 'occurrences':
        return occurrencesOf(search, scope, search.byIds(ask.ids), ask.words);
    }
  }

  #current(): MemorySearch {
    const { index } = this.#followed;
    if (this.#search?.index !== index) this.#search = { index, by: new MemorySearch(index) };
    return this.#search.by;
  }
}

function answerWith(search: MemorySearch, scope: Scope, found: readonly Found[], ranking: Ranking | null): Answer {
  const ranks = ranking === null ? null : search.ranks(scope, found, ranking);
  return { kind: 'found', found: foundRecords(found, ranks) };
}

function occurrencesOf(
  search: MemorySearch,
  scope: Scope,
  found: readonly Found[],
  words: readonly TermQuery[],
): Answer {
  return {
    kind: 'occurrences',
    found: foundRecords(found, null),
    occurrences: search.occurrences(scope, found, words),
  };
}

/** Few matches with the occurrences of the words, which reranking needs; of many matches, a page of ranked ones. */
function bestAnswer(search: MemorySearch, scope: Scope, asked: BestQuestion): Answer {
  const all = { limit: asked.counted, offset: 0, except: new Set<string>() };
  const found = search.find(scope, asked.need, all);
  if (found.length <= asked.few) return occurrencesOf(search, scope, found, asked.ranking.words);
  const titled = search.find(scope, asked.titled, { ...all, limit: asked.ranked });
  const page = search.best(scope, found, titled, asked);
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

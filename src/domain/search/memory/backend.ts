/** Asks the index in memory the questions of one scope. */
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import type { ConfigSnapshot, ConfigSource, DerivedView } from '../../../platform/unit-of-work/snapshot.ts';
import { ownFieldView } from '../../access/index.ts';
import { mismatchedVersions, typeView, variables } from '../../metadata/index.ts';
import type {
  Best,
  BestQuestion,
  Matched,
  OccurrencesById,
  Page,
  Ranking,
  Sample,
  Scope,
  SearchBackend,
  Word,
  Words,
} from '../query.ts';
import type { RerankHit } from '../ranking.ts';
import { readRerankTexts } from '../sql/rerank.ts';
import { type ConditionNames, keyOfField } from './conditions.ts';
import type { Answer, Ask, FoundRecords, MemoryScope } from './messages.ts';
import { ID_LENGTH } from './segment.ts';

/** The methods of a back end that cannot answer everything. They return undefined if another one must answer. */
export type Attempts<Backend> = {
  [Method in keyof Backend]: Backend[Method] extends (...asked: infer Asked) => Promise<infer Given>
    ? (...asked: Asked) => Promise<Given | undefined>
    : never;
};

/** One kind of question, without what all of them have. */
type Asked<Kind extends Ask['kind']> = Kind extends Ask['kind']
  ? Omit<Extract<Ask, { kind: Kind }>, 'scope' | 'fresh'>
  : never;

export class IndexInMemory implements Attempts<SearchBackend> {
  readonly #index: { ask(ask: Ask): Promise<Answer> };
  readonly #ctx: ReadContext;
  readonly #scope: MemoryScope;
  /** Whether an answer has shown that the index has all acknowledged changes, and whether it could not answer once. */
  #isFresh = false;
  #isLost = false;

  constructor(index: { ask(ask: Ask): Promise<Answer> }, ctx: ReadContext, scope: Scope) {
    this.#index = index;
    this.#ctx = ctx;
    this.#scope = {
      ...scope,
      environment: { names: ctx.config.get(namesView), variables: variables(ctx) },
      version: ctx.config.version,
      variablesKey: JSON.stringify(ctx.actor.variables),
    };
  }

  async find(words: Words | null, page: Page): Promise<string[] | undefined> {
    if (words === null) return undefined;
    const answer = await this.#ask({ kind: 'find', steps: [words], page, ranking: null });
    return answer.kind === 'found' ? idsOf(answer.found) : undefined;
  }

  async findInSteps(
    steps: readonly Words[],
    limit: number,
    except: readonly string[],
    ranking: Ranking,
  ): Promise<Matched[] | undefined> {
    const answer = await this.#ask({ kind: 'find', steps, page: { limit, offset: 0, except }, ranking });
    return answer.kind === 'found' ? matchedOf(answer.found) : undefined;
  }

  async best(question: BestQuestion): Promise<Best | undefined> {
    const answer = await this.#ask({ kind: 'best', ...question });
    switch (answer.kind) {
      case 'best': {
        const others = matchedOf(answer.found).map(({ id, rank: score = 0 }) => ({ id, score }));
        return { kind: 'page', count: answer.count, titled: idsOf(answer.titled), others };
      }
      case 'occurrences':
        return { kind: 'few', ids: idsOf(answer.found), occurrences: occurrencesById(answer) };
      default:
        return undefined;
    }
  }

  async ranks(ids: readonly string[], ranking: Ranking): Promise<Matched[] | undefined> {
    const answer = await this.#ask({ kind: 'rank', ids, ranking });
    return answer.kind === 'found' ? matchedOf(answer.found) : undefined;
  }

  /** The index knows how often the records contain the words. Their titles, comments and duplicates are always read. */
  async rerankHits(
    ids: readonly string[],
    words: readonly Word[],
    comments: boolean,
    known?: OccurrencesById,
  ): Promise<(RerankHit & { id: string })[] | undefined> {
    if (this.#isLost && known === undefined) return undefined;
    const [counts, rows] = await Promise.all([
      known ?? this.#occurrences(ids, words),
      readRerankTexts(this.#ctx, this.#scope, ids, words, comments, null),
    ]);
    return (
      counts &&
      rows.flatMap((row) => {
        const counted = counts.get(row.id);
        return counted === undefined ? [] : [{ ...row, ...counted }];
      })
    );
  }

  async #occurrences(ids: readonly string[], words: readonly Word[]): Promise<OccurrencesById | undefined> {
    const answer = await this.#ask({ kind: 'occurrences', ids, words });
    return answer.kind === 'occurrences' ? occurrencesById(answer) : undefined;
  }

  async sample(words: readonly Word[], size: number): Promise<Sample | undefined> {
    const answer = await this.#ask({ kind: 'sample', words, size });
    return answer.kind === 'sample' ? answer : undefined;
  }

  async #ask(ask: Asked<Ask['kind']>): Promise<Answer> {
    // An index that could not answer once is not waited for again.
    if (this.#isLost) return { kind: 'statement' };
    const answer = await this.#index.ask({ ...ask, scope: this.#scope, fresh: !this.#isFresh });
    if (answer.kind === 'statement') this.#isLost = true;
    else this.#isFresh = true;
    return answer;
  }
}

function idsOf({ ids, sizes }: FoundRecords): string[] {
  return Array.from(sizes, (_, at) => ids.slice(ID_LENGTH * at, ID_LENGTH * (at + 1)));
}

function matchedOf(found: FoundRecords): Matched[] {
  return idsOf(found).map((id, at) => ({ id, size: found.sizes[at] ?? 0, rank: found.ranks?.[at] ?? 0 }));
}

function occurrencesById({
  found,
  occurrences: { words, title, rest },
}: Extract<Answer, { kind: 'occurrences' }>): OccurrencesById {
  const of = (all: Float64Array, at: number): Float64Array => all.subarray(words * at, words * (at + 1));
  return new Map(
    idsOf(found).map((id, at) => [id, { size: found.sizes[at] ?? 0, titleTf: of(title, at), restTf: of(rest, at) }]),
  );
}

const namesView: DerivedView<ConditionNames> = { name: 'search.names', build: buildNames };

function buildNames(_source: ConfigSource, snapshot: ConfigSnapshot): ConditionNames {
  const types = snapshot.get(typeView);
  const mismatched = new Map<string, ReadonlySet<number>>();
  for (const type of types.byId.values()) {
    const codes = new Set([...type.versions.values()].flatMap(({ fields }) => [...fields.keys()]));
    for (const code of codes) {
      const versions = mismatchedVersions(type, code);
      if (versions.length > 0) mismatched.set(keyOfField(type.id, code), new Set(versions));
    }
  }
  return {
    typeCodes: new Map([...types.byId].map(([id, { code }]) => [id, code])),
    states: new Map([...types.states].map(([id, { code, category }]) => [id, { code, category }])),
    mismatched,
  };
}

/** Stored codes of the fields that filters and grants usually compare. The index in memory keeps their values. */
export function comparedCodes(config: ConfigSnapshot): string[] {
  const codes = new Set<string>();
  for (const type of config.get(typeView).byId.values()) {
    const own = config.get(ownFieldView).get(type.id)?.fields;
    for (const { fields } of type.versions.values()) {
      for (const { code, storedAs, search } of fields.values()) {
        if (search.filter || own?.has(code) === true) codes.add(storedAs ?? code);
      }
    }
  }
  return [...codes];
}

/** Questions to the index in memory: the same rights and filters as the SQL, as conditions. */
import type { ItemState } from '../../../contract/state.ts';
import { fieldsOf, type TypedCondition, type TypedField } from '../../../lib/filter.ts';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import type { ConfigSnapshot, ConfigSource, DerivedView } from '../../../platform/unit-of-work/snapshot.ts';
import { ownFieldView } from '../../access/index.ts';
import { mismatchedVersions, registry, typeView, variables } from '../../metadata/index.ts';
import { ruleOfFilters, type TypedFilter } from '../filter.ts';
import { type ConditionEnvironment, type ConditionNames, keyOfField, keyOfShape } from './conditions.ts';
import type { Answer, Ask, FoundRecords } from './messages.ts';
import type { Need } from './need.ts';
import type { BestQuestion, Ranking, Scope } from './search.ts';
import { ID_LENGTH } from './segment.ts';
import type { AccessFilter } from '../sql/access.ts';
import type { TermQuery } from '../terms.ts';

/** A match, with its rank if that was computed with it. */
export interface Matched {
  id: string;
  rank?: number;
  /** Number of words of the record. */
  size?: number;
}

/** What reranking needs of a record: its number of words, and by word the rank with weight 1 in the title and in the rest. */
export interface RecordOccurrences {
  size: number;
  titleTf: Float64Array;
  restTf: Float64Array;
}

export type OccurrencesById = ReadonlyMap<string, RecordOccurrences>;

/** A page of many ranked matches. */
export interface BestPage {
  count: number;
  /** Those that come first, last updated first. */
  titled: string[];
  /** The others on the page, best first. */
  page: { id: string; score: number }[];
}

/** All matches, because they are few, last updated first. */
export interface FewMatches {
  few: Matched[];
  occurrences: OccurrencesById;
}

type AskOf<Kind extends Ask['kind']> = Omit<Extract<Ask, { kind: Kind }>, 'scope' | 'fresh'>;

/** The index in memory, asked for one question of a caller. The methods return undefined if the statement must answer. */
export class MemoryQuestion {
  readonly #index: { ask(ask: Ask): Promise<Answer> };
  readonly #scope: Scope;
  /** What was found out so far. */
  readonly #course: { isFresh: boolean; isLost: boolean };

  constructor(index: { ask(ask: Ask): Promise<Answer> }, scope: Scope, course = { isFresh: false, isLost: false }) {
    this.#index = index;
    this.#scope = scope;
    this.#course = course;
  }

  /** The same question without its filter. */
  unfiltered(): MemoryQuestion {
    return new MemoryQuestion(this.#index, { ...this.#scope, filter: null }, this.#course);
  }

  /** Matches in the order of their last update, with ranks if a ranking is given. */
  async find(
    need: Need,
    { limit, offset, except }: { limit: number; offset: number; except: readonly string[] },
    ranking: Ranking | null,
  ): Promise<Matched[] | undefined> {
    const page = { limit, offset, except: new Set(except) };
    const answer = await this.#ask({ kind: 'find', need, page, ranking });
    return answer.kind === 'found' ? matchedOf(answer.found) : undefined;
  }

  /** The first matches of the needs one after the other, with ranks. Ids in `except` are left out. */
  async findInSteps(
    needs: readonly Need[],
    limit: number,
    except: readonly string[],
    ranking: Ranking,
  ): Promise<Matched[] | undefined> {
    const answer = await this.#ask({ kind: 'steps', needs, limit, except: new Set(except), ranking });
    return answer.kind === 'found' ? matchedOf(answer.found) : undefined;
  }

  /** The ranks of the records. */
  async rank(ids: readonly string[], ranking: Ranking): Promise<Matched[] | undefined> {
    const answer = await this.#ask({ kind: 'rank', ids, ranking });
    return answer.kind === 'found' ? matchedOf(answer.found) : undefined;
  }

  /** How often the records contain each word. */
  async occurrences(ids: readonly string[], words: readonly TermQuery[]): Promise<OccurrencesById | undefined> {
    const answer = await this.#ask({ kind: 'occurrences', ids, words });
    return answer.kind === 'occurrences' ? occurrencesById(answer, words.length) : undefined;
  }

  /** A page of the ranked matches, or if there are few, all of them with the occurrences of the words. */
  async best(asked: BestQuestion): Promise<BestPage | FewMatches | undefined> {
    const answer = await this.#ask({ kind: 'best', ...asked });
    switch (answer.kind) {
      case 'best': {
        const page = matchedOf(answer.found).map(({ id, rank: score = 0 }) => ({ id, score }));
        return { count: answer.count, titled: matchedOf(answer.titled).map(({ id }) => id), page };
      }
      case 'occurrences':
        return { few: matchedOf(answer.found), occurrences: occurrencesById(answer, asked.ranking.words.length) };
      default:
        return undefined;
    }
  }

  /** How many of the newest records satisfy each need. */
  async sample(
    needs: readonly Need[],
    size: number,
  ): Promise<{ records: number; holding: readonly number[]; average: number } | undefined> {
    const answer = await this.#ask({ kind: 'sample', needs, size });
    if (answer.kind !== 'sample') return undefined;
    const { records, holding, average } = answer;
    return { records, holding, average };
  }

  async #ask(
    ask: AskOf<'find'> | AskOf<'best'> | AskOf<'steps'> | AskOf<'rank'> | AskOf<'occurrences'> | AskOf<'sample'>,
  ): Promise<Answer> {
    const course = this.#course;
    // An index that could not answer once is not waited for again.
    if (course.isLost) return { kind: 'statement' };
    const answer = await this.#index.ask({ ...ask, scope: this.#scope, fresh: !course.isFresh });
    if (answer.kind === 'statement') course.isLost = true;
    else course.isFresh = true;
    return answer;
  }
}

function matchedOf({ ids, ranks, sizes }: FoundRecords): Matched[] {
  return Array.from(sizes, (size, at): Matched => {
    const id = ids.slice(ID_LENGTH * at, ID_LENGTH * (at + 1));
    const rank = ranks?.[at];
    return rank === undefined ? { id, size } : { id, size, rank };
  });
}

/** @param words number of words */
function occurrencesById(
  { found, occurrences: { title, rest } }: Extract<Answer, { kind: 'occurrences' }>,
  words: number,
): OccurrencesById {
  const of = (all: Float64Array, at: number): Float64Array => all.subarray(words * at, words * (at + 1));
  return new Map(
    matchedOf(found).map(({ id, size = 0 }, at) => [id, { size, titleTf: of(title, at), restTf: of(rest, at) }]),
  );
}

/** @param filters null for no filter; null is returned if no record can match them */
export function scopeOf(
  ctx: ReadContext,
  accessFilter: AccessFilter,
  asked: { state: ItemState; workflowStateIds: readonly string[] | null; filters: readonly TypedFilter[] | null },
): Scope | null {
  const { typeIds, trustedBy, classes } = accessFilter;
  const filter = asked.filters === null ? null : ruleOfFilters(asked.filters);
  if (filter?.size === 0) return null;
  return {
    state: asked.state,
    workflowStateIds: asked.workflowStateIds,
    rights: ctx.actor.rule('read', typeIds),
    classes: classes.map(({ rule }) => rule),
    trusted: trustedBy,
    filter,
    environment: environmentOf(ctx, asked.filters ?? []),
    version: ctx.config.version,
    variablesKey: JSON.stringify(ctx.actor.variables),
  };
}

function environmentOf(ctx: ReadContext, filters: readonly TypedFilter[]): ConditionEnvironment {
  const readable = new Map<string, Map<string, TypedCondition | null>>();
  for (const { typeIds, condition, has } of filters) {
    for (const field of fieldsOf(condition)) {
      const key = keyOfShape(field);
      const rule = readable.get(key) ?? new Map<string, TypedCondition | null>();
      readable.set(key, rule);
      for (const typeId of typeIds) {
        const own = has(typeId, field) ? readableRule(ctx, typeId, field) : undefined;
        if (own !== undefined) rule.set(typeId, own);
      }
    }
  }
  return { names: ctx.config.get(namesView), variables: variables(ctx), readable };
}

/** The records of the type on which the field may be read; null for all of them, undefined for none. */
function readableRule(ctx: ReadContext, typeId: string, field: TypedField): TypedCondition | null | undefined {
  const access = ctx.actor.fieldAccess(typeId);
  if (field.kind === 'value') return access.ruleOf(field.code);
  if (field.code !== 'title') return null;
  // The title is the text of a field, and versions may have different ones: all of them must be readable.
  const versions = registry(ctx).byId.get(typeId)?.versions.values() ?? [];
  const codes = new Set([...versions].flatMap(({ titleField }) => (titleField === null ? [] : [titleField])));
  const rules = [...codes].map((code) => access.ruleOf(code));
  if (rules.includes(undefined)) return undefined;
  const conditions = rules.filter((rule) => rule !== null && rule !== undefined);
  return conditions.length === 0 ? null : { logic: 'AND', conditions };
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

/** Records of one type, with the types of their values as `docket types` writes them. */
import type { ChangedField } from './errors.ts';
import { RevisionConflict } from './errors.ts';
import type { DocketObject, ObjectsListData, SearchSearchData } from './generated/api-types.ts';
import type { CallOptions } from './transport.ts';
import type { WorkflowOperations } from './generated/api.ts';
import type { Condition } from './condition.ts';
import type { Objects, Search } from './groups.ts';

/** What `docket types` writes of a record type. */
export interface RecordType {
  /** As records are read: a field that the caller may not read is left out. */
  values: object;
  create: object;
  changes: object;
  /** Codes of its workflow's states and transitions. */
  state: string;
  transition: string;
}

/** Code of a record type → what it is; `docket types` writes one that is called `RecordTypes`. */
export type RecordTypes = { [code: string]: RecordType };

interface AnyType extends RecordType {
  values: Record<string, unknown>;
  create: Record<string, unknown>;
  changes: Record<string, unknown>;
}

/** Where nobody said what the types are. */
export type AnyTypes = { [code: string]: AnyType };

export type TypedObject<Type extends RecordType> = Omit<DocketObject, 'values' | 'workflowState'> & {
  values: Type['values'];
  workflowState: (Omit<NonNullable<DocketObject['workflowState']>, 'code'> & { code: Type['state'] }) | null;
};

export type ListQuery = Omit<NonNullable<ObjectsListData['query']>, 'typeId' | 'page'>;
export type SearchQuery = Omit<NonNullable<SearchSearchData['query']>, 'filter' | 'kinds' | 'page'> & {
  filter?: Condition;
};

export interface EditOptions extends CallOptions {
  /** How often the change is decided anew when others were faster; 5 unless said. */
  decisions?: number;
}

/** The groups of operations that records are worked on with. */
export interface Hands {
  readonly objects: Objects;
  readonly workflow: WorkflowOperations;
  readonly search: Search;
}

export class Records<Type extends RecordType> {
  readonly #hands: Hands;
  readonly code: string;

  constructor(hands: Hands, code: string) {
    this.#hands = hands;
    this.code = code;
  }

  /** Creates a record. @param options `objectId` for an id of your own */
  async create(values: Type['create'], options: CallOptions & { objectId?: string } = {}): Promise<TypedObject<Type>> {
    const { objectId, ...call } = options;
    const body = { typeDefinitionId: this.code, values: { ...values } as Record<string, unknown> };
    const made = await this.#hands.objects.create(objectId === undefined ? body : { ...body, objectId }, call);
    return made as TypedObject<Type>;
  }

  async get(id: string, options?: CallOptions): Promise<TypedObject<Type>> {
    return (await this.#hands.objects.get(id, options)) as TypedObject<Type>;
  }

  /** @throws RevisionConflict when the record is no longer what the caller decided on */
  async update(
    id: string,
    expectedRevision: number,
    changes: Type['changes'],
    options?: CallOptions,
  ): Promise<TypedObject<Type>> {
    const body = { expectedRevision, changes: { ...changes } as Record<string, unknown> };
    return (await this.#hands.objects.update(id, body, options)) as TypedObject<Type>;
  }

  /**
   * Reads the record, asks what to change in it, changes that, and, where somebody else was faster, reads it again and asks
   * again: nothing of others is written over unseen.
   *
   * @param decide the changes, or undefined to leave the record as it is; `meanwhile` is what others changed since it was last asked
   * @throws RevisionConflict when others were faster each time
   */
  async edit(
    id: string,
    decide: (record: TypedObject<Type>, meanwhile: readonly ChangedField[]) => Type['changes'] | undefined,
    { decisions = 5, ...options }: EditOptions = {},
  ): Promise<TypedObject<Type>> {
    let meanwhile: readonly ChangedField[] = [];
    for (let decision = 1; ; decision++) {
      const record = await this.get(id, options);
      const changes = decide(record, meanwhile);
      if (changes === undefined) return record;
      try {
        return await this.update(id, record.revision, changes, options);
      } catch (error) {
        if (!(error instanceof RevisionConflict) || decision >= decisions) throw error;
        meanwhile = error.changedSince;
      }
    }
  }

  async archive(id: string, expectedRevision: number, options?: CallOptions): Promise<void> {
    await this.#hands.objects.archive(id, { expectedRevision }, options);
  }

  /**
   * Moves the record by the transition of that code, from the state and revision that `record` is known in.
   *
   * @throws RevisionConflict, Conflict when it is no longer so; Error when no such transition is open to the caller now
   */
  async transition(
    record: Pick<TypedObject<Type>, 'id' | 'revision' | 'workflowState'>,
    code: Type['transition'],
    values: Record<string, unknown> = {},
    options?: CallOptions,
  ): Promise<TypedObject<Type>> {
    const { transitions } = await this.#hands.workflow.get(record.id, options);
    const transition = transitions.find((one) => one.code === code);
    if (transition === undefined || record.workflowState === null) {
      const open = transitions.map((one) => one.code).join(', ');
      throw new Error(`${this.code} ${record.id} cannot ${code} now; open: ${open === '' ? 'none' : open}`);
    }
    const body = {
      transitionId: transition.id,
      expectedRevision: record.revision,
      expectedStateId: record.workflowState.id,
      values,
    };
    await this.#hands.workflow.transition(record.id, body, options);
    return await this.get(record.id, options);
  }

  /** Every record, newest first. */
  async *each(query: ListQuery = {}, options?: CallOptions): AsyncGenerator<TypedObject<Type>, void, undefined> {
    for await (const record of this.#hands.objects.each({ ...query, typeId: this.code }, options)) {
      yield record as TypedObject<Type>;
    }
  }

  /** Every record of this type that is found, best first. */
  async *search(query: SearchQuery, options?: CallOptions): AsyncGenerator<TypedHit<Type>, void, undefined> {
    const own: Condition = { field: 'typeCode', operator: 'equals', value: this.code };
    const filter: Condition = query.filter === undefined ? own : { logic: 'AND', conditions: [own, query.filter] };
    for await (const hit of this.#hands.search.each({ ...query, filter }, options))
      yield hit as unknown as TypedHit<Type>;
  }
}

/** What a search finds: fields of the search projection alone. */
export interface TypedHit<Type extends RecordType> {
  id: string;
  title: string | null;
  snippet: string | null;
  score: number;
  number: string | null;
  revision: number;
  workflowState: TypedObject<Type>['workflowState'];
  values: Partial<Type['values']>;
}

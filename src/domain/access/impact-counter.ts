/** Counts shifts of access for the impact of a plan: each different one once, in samples where the time or the type demand it. */
import type { AccessCount, FieldAccessChange, ImpactContext } from '../../configuration/impact.ts';
import { Yielder } from '../../lib/yielding.ts';
import { typeView, usesHiddenField } from '../metadata/index.ts';
import type { RoleDefinition } from './roles.ts';
import {
  BATCH,
  type Counted,
  countShifts,
  type FieldShift,
  type Population,
  populationOf,
  type Shift,
  shiftExamples,
} from './store-impact.ts';

/** The sample of a type once half of the time is over. */
const COARSE = 2000;
/** Fields of a role or user with examples. */
const MAX_FIELDS_WITH_EXAMPLES = 20;

/** A count with its largest error. */
export interface Measured extends Counted {
  errorBound: number;
}

type Group = readonly Shift[];
const keyOf = (group: Group): string => [...new Set(group.map(({ key }) => key))].sort().join();

export class Counter {
  readonly #context: ImpactContext;
  readonly #populations = new Map<string, Population>();
  /** By type, and by the shifts of a group. Null: not counted. */
  readonly #counts = new Map<string, Measured | null>();
  readonly #examples = new Map<string, AccessCount['examples']>();
  readonly #hidden = new Map<string, boolean>();

  constructor(context: ImpactContext) {
    this.#context = context;
  }

  /** Whether conditions of roles on the type use fields that the caller cannot always read. */
  #isHidden(typeId: string): boolean {
    let hidden = this.#hidden.get(typeId);
    if (hidden === undefined) {
      const { before, after } = this.#context;
      const roles = [before, after].flatMap(({ config }) => config.items('roles'));
      const grants = roles.flatMap(({ compiled }) => (compiled as Pick<RoleDefinition, 'records'>).records);
      hidden = usesHiddenField(
        this.#context,
        typeId,
        grants.map(({ where }) => where),
      );
      this.#hidden.set(typeId, hidden);
    }
    return hidden;
  }

  async #population(typeId: string): Promise<Population> {
    const { after, limit, inexact, hasTime } = this.#context;
    const isCoarse = !hasTime(0.5);
    const key = `${typeId} ${isCoarse}`;
    let population = this.#populations.get(key);
    if (population === undefined) {
      const scope = limit === null ? undefined : limit.visible('o', 'read', after.now, [typeId]);
      population = await populationOf(after, typeId, { limit: scope, ...(isCoarse ? { most: COARSE } : {}) });
      if (population.errorBound > 0) inexact(population.errorBound);
      this.#populations.set(key, population);
    }
    return population;
  }

  /** Counts the groups that were not counted before, as far as there is time and the caller may know. */
  async count(typeId: string, groups: readonly Group[]): Promise<void> {
    const yielder = new Yielder();
    const wanted = new Map<string, Group>();
    for (const group of groups) {
      await yielder.next();
      const key = `${typeId} ${keyOf(group)}`;
      if (group.length > 0 && !this.#counts.has(key)) wanted.set(key, group);
    }
    const open = [...wanted];
    for (let start = 0; start < open.length; start += BATCH) {
      const batch = open.slice(start, start + BATCH);
      const counted = await this.#counted(
        typeId,
        batch.map(([, group]) => group),
      );
      for (const [index, [key]] of batch.entries()) this.#counts.set(key, counted?.[index] ?? null);
    }
  }

  async #counted(typeId: string, groups: readonly Group[]): Promise<Measured[] | null> {
    if (this.#isHidden(typeId)) return null;
    if (!this.#context.hasTime()) {
      this.#context.inexact(null);
      return null;
    }
    const population = await this.#population(typeId);
    const { errorBound } = population;
    const counted = await countShifts(this.#context.after, population, groups);
    return counted.map((one) => ({ ...one, errorBound }));
  }

  /** What `count` found; undefined if it was not counted. */
  found(typeId: string, group: Group): Measured | undefined {
    return this.#counts.get(`${typeId} ${keyOf(group)}`) ?? undefined;
  }

  async #named(typeId: string, group: Group): Promise<AccessCount['examples']> {
    const key = `${typeId} ${keyOf(group)}`;
    let examples = this.#examples.get(key);
    if (examples === undefined) {
      if (!this.#context.hasTime()) return [];
      const { after, caller } = this.#context;
      const visible = caller.visible('o', 'read', after.now, [typeId]);
      examples = await shiftExamples(after, await this.#population(typeId), group, visible);
      this.#examples.set(key, examples);
    }
    return examples;
  }

  /** The records of the type that become readable or writable or stop being so; undefined if there are none. */
  async records(typeId: string, { read, write }: { read: Group; write: Group }): Promise<AccessCount | undefined> {
    const { gained = 0, lost = 0 } = this.found(typeId, read) ?? {};
    const writable = this.found(typeId, write);
    if (gained + lost + (writable?.gained ?? 0) + (writable?.lost ?? 0) === 0) return undefined;
    return {
      type: this.#codeOf(typeId),
      gained,
      lost,
      writable: { gained: writable?.gained ?? 0, lost: writable?.lost ?? 0 },
      examples: await this.#named(typeId, [...read, ...write]),
    };
  }

  /**
   * The changes of fields on records that stay readable or writable, and of fields in general.
   *
   * @param named fields that already have examples
   */
  async fields(
    typeId: string,
    fields: readonly (Pick<FieldShift, 'field' | 'access' | 'general'> & { group: Group })[],
    named: number,
  ): Promise<FieldAccessChange[]> {
    const changes: FieldAccessChange[] = [];
    for (const { field, access, general, group } of fields) {
      const counted = this.found(typeId, group);
      for (const change of ['gained', 'lost'] as const) {
        const records = counted?.[change] ?? 0;
        if (records === 0 && general !== change) continue;
        const isNamed = records > 0 && named + changes.length < MAX_FIELDS_WITH_EXAMPLES;
        const examples = isNamed ? await this.#named(typeId, group) : [];
        changes.push({ type: this.#codeOf(typeId), field, access, change, records, examples });
      }
    }
    return changes;
  }

  #codeOf(typeId: string): string {
    return this.#context.before.config.get(typeView).byId.get(typeId)?.code ?? typeId;
  }
}

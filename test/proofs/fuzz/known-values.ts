/** Values from earlier responses, by the parameter name under which requests need them. */
import type { RandomSource } from './random-source.ts';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const MAX = 60;

/** The parameter name for the `id` in responses of that module's operations. */
const NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['objects', ['objectId', 'targetObjectId', 'assetId']],
  ['comments', ['commentId']],
  ['attachments', ['attachmentId']],
  ['relations', ['relationId']],
  ['sla', ['instanceId']],
  ['services', ['serviceId']],
  ['imports', ['runId', 'definitionId']],
  ['desk', ['queueId']],
  ['kb', ['articleId']],
  ['identity', ['id', 'memberId', 'userId', 'groupId', 'organizationUnitId']],
]);

export class KnownValues {
  readonly #random: RandomSource;
  readonly #kept = new Map<string, unknown[]>();
  /** Ids that requests must not change, because the run depends on them. */
  readonly spared = new Set<string>();

  constructor(random: RandomSource) {
    this.#random = random;
  }

  put(name: string, value: unknown): void {
    if (typeof value === 'string' && (this.spared.has(value) || value.length > 200)) return;
    const kept = this.#kept.get(name) ?? [];
    this.#kept.set(name, kept);
    if (kept.includes(value)) return;
    if (kept.length < MAX) kept.push(value);
    else kept[this.#random.below(MAX)] = value;
  }

  get(name: string): unknown {
    const kept = this.#kept.get(name);
    return kept === undefined || kept.length === 0 ? undefined : this.#random.pick(kept);
  }

  /** Any id at all: of another kind than was asked for, most often. */
  anyId(): string {
    const ids = [...this.#kept.values()].flat().filter((one) => typeof one === 'string' && UUID.test(one));
    return ids.length === 0 ? this.#random.uuid() : (this.#random.pick(ids) as string);
  }

  /** Collects values from the response and the request of an operation. */
  learn(operationId: string, data: unknown, params: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(params)) this.put(name, value);
    this.#walk(NAMES.get(operationId.split('.')[0] ?? '') ?? ['id'], data, 0);
  }

  #walk(names: readonly string[], data: unknown, depth: number): void {
    if (typeof data !== 'object' || data === null || depth > 6) return;
    if (Array.isArray(data)) {
      for (const one of data.slice(0, 5)) this.#walk(names, one, depth + 1);
      return;
    }
    for (const [key, value] of Object.entries(data)) {
      if (key === 'id' && typeof value === 'string' && UUID.test(value))
        for (const name of names) this.put(name, value);
      else if (key === 'revision') this.put('expectedRevision', value);
      else if (/(?:Id|Ref|code|locale)$/.test(key) && typeof value === 'string') this.put(key, value);
      else if (key === 'state' && typeof value === 'object')
        this.put('expectedStateId', (value as { id?: unknown } | null)?.id);
      else if (key === 'transitions' && Array.isArray(value))
        for (const one of value) this.put('transitionId', one?.id);
      else this.#walk(['id'], value, depth + 1);
      if (key === 'state' || key === 'transitions') this.#walk(['id'], value, depth + 1);
    }
  }
}

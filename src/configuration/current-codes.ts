/**
 * The current codes of things that were renamed, for values outside the configuration that name them: queues and dashboards of
 * users. They keep what their owner wrote and are read with the current codes. That is not ambiguous, because a code that a
 * rename freed is never used again.
 */
import type { DataType, Renamed } from '../lib/data-types/index.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import type { ConfigSource, DerivedView } from '../platform/unit-of-work/snapshot.ts';
import { mapNames } from './names.ts';
import type { CurrentCodes, CurrentField, NamingSchema } from './naming.ts';

interface RenamedPart extends Renamed {
  code: string;
}
interface Compiled {
  workflow?: string;
  fields?: (RenamedPart & { dataType: DataType; constraints: { options?: RenamedPart[] } })[];
  states?: RenamedPart[];
  transitions?: RenamedPart[];
}
interface TypeCodes {
  code: string;
  workflows: Set<string>;
  fields: Map<string, CurrentField>;
}

/** Each code that a part has or had → its code. A code that a part has now means that part. */
function byAnyCode<P extends RenamedPart>(parts: readonly P[]): Map<string, P> {
  const former = parts.flatMap((part) => (part.former ?? []).map((old) => [old, part] as const));
  return new Map([...former, ...parts.map((part) => [part.code, part] as const)]);
}

class FormerCodes implements CurrentCodes {
  readonly #items = new Map<string, string>();
  /** By id, code and former codes. */
  readonly #types = new Map<string, TypeCodes>();
  readonly #workflows = new Map<string, Record<'states' | 'transitions', ReadonlyMap<string, RenamedPart>>>();
  readonly isEmpty: boolean;

  constructor({ items, typeVersions }: ConfigSource) {
    let renamed = false;
    const seen = <P extends RenamedPart>(parts: readonly P[]): Map<string, P> => {
      renamed ||= parts.some(({ former }) => former !== undefined);
      return byAnyCode(parts);
    };
    const versions = Map.groupBy(typeVersions, ({ typeId }) => typeId);
    for (const { id, section, code, formerCodes = [], compiled } of items) {
      renamed ||= formerCodes.length > 0;
      for (const old of formerCodes) this.#items.set(`${section} ${old}`, code);
      const { states = [], transitions = [] } = compiled as Compiled;
      if (section === 'workflows') this.#workflows.set(code, { states: seen(states), transitions: seen(transitions) });
      if (section !== 'types') continue;
      const all = (versions.get(id) ?? []).map((version) => version.compiled as Compiled);
      const type: TypeCodes = {
        code,
        workflows: new Set(all.flatMap(({ workflow }) => workflow ?? [])),
        fields: new Map(),
      };
      for (const [name, field] of seen(all.flatMap(({ fields = [] }) => fields))) {
        const options = seen(field.constraints.options ?? []);
        const { code: current, dataType } = field;
        type.fields.set(name, { code: current, dataType, option: (option) => options.get(option)?.code ?? option });
      }
      for (const name of [...formerCodes, code, id]) this.#types.set(name, type);
    }
    this.isEmpty = !renamed;
  }

  item(section: string, code: string): string {
    return this.#items.get(`${section} ${code}`) ?? code;
  }

  typeCode(type: string): string {
    return this.#types.get(type)?.code ?? type;
  }

  types(): readonly string[] {
    return [...new Set([...this.#types.values()].map(({ code }) => code))];
  }

  typesUsing(workflow: string): readonly string[] {
    return this.types().filter((type) => this.workflowsOf(type).includes(workflow));
  }

  workflowsOf(type: string): readonly string[] {
    return [...(this.#types.get(type)?.workflows ?? [])];
  }

  field(type: string, code: string): CurrentField | undefined {
    return this.#types.get(type)?.fields.get(code);
  }

  state(workflow: string, code: string): string | undefined {
    return this.#workflows.get(workflow)?.states.get(code)?.code;
  }

  transition(workflow: string, code: string): string | undefined {
    return this.#workflows.get(workflow)?.transitions.get(code)?.code;
  }

  node(_section: string, _item: string, _part: string, code: string): string {
    return code;
  }

  /** Values outside the configuration are mapped when they are read: nothing changes at once. */
  origin(): undefined {
    return undefined;
  }
}

const formerCodesView: DerivedView<FormerCodes> = {
  name: 'configuration.former-codes',
  build: (source) => new FormerCodes(source),
};

/** Values of a record of the type, with the codes of any time, under the current codes of its fields and options. */
export function withCurrentFields(
  ctx: Pick<ReadContext, 'config'>,
  typeId: string,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const codes = ctx.config.get(formerCodesView);
  const entries = Object.entries(values).map(([code, value]): [string, unknown] => {
    const field = codes.field(typeId, code);
    if (field?.dataType !== 'enum') return [field?.code ?? code, value];
    const option = (one: unknown): unknown => (typeof one === 'string' ? field.option(one) : one);
    return [field.code, Array.isArray(value) ? value.map(option) : option(value)];
  });
  return Object.fromEntries(entries);
}

/** The value with the current codes of everything that it names. @param schema says what its codes mean */
export function withCurrentCodes<T>(ctx: Pick<ReadContext, 'config'>, schema: NamingSchema, value: T): T {
  const codes = ctx.config.get(formerCodesView);
  return codes.isEmpty ? value : (mapNames({ key: '', schema }, '', value, codes) as T);
}

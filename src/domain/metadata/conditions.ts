/** Connects record types to the condition language: their fields, and how they are expressed in SQL. */
import sql, { raw } from 'sql-template-tag';
import { type FieldResolver, type FilterField, SYSTEM_FIELDS, type Variables } from '../../lib/filter.ts';
import { readVariable, resolveOperand } from '../../lib/filter-variables.ts';
import type { CompileEnvironment } from '../../platform/database/filter-sql.ts';
import type { ActorVariables, ReadContext } from '../../platform/unit-of-work/context.ts';
import { type FieldDefinition, mismatchedVersions, type RecordType, registry, type TypeRegistry } from './registry.ts';

export function filterField(field: FieldDefinition): FilterField {
  const { options } = field.constraints;
  const renamed = (options ?? []).flatMap(({ code, storedAs }) => (storedAs === undefined ? [] : [[code, storedAs]]));
  return {
    code: field.code,
    kind: 'value',
    dataType: field.dataType,
    multiple: field.multiple,
    ...(options === undefined ? {} : { options: new Set(options.map((option) => option.code)) }),
    ...(field.storedAs === undefined ? {} : { storedAs: field.storedAs }),
    ...(renamed.length === 0 ? {} : { optionsStoredAs: Object.fromEntries(renamed) as Record<string, string> }),
  };
}

/**
 * Resolves fields of the newest version first, then system fields. A field of the type with the code `title` therefore hides
 * the system field.
 */
export function fieldResolver(type: RecordType): FieldResolver {
  return (code) => {
    const field = type.newest.fields.get(code);
    return field === undefined ? SYSTEM_FIELDS.get(code) : filterField(field);
  };
}

/** `$today`: the current date in the time zone of the settings. */
export function today(types: TypeRegistry, now: string): string {
  return Temporal.Instant.from(now).toZonedDateTimeISO(types.settings.timezone).toPlainDate().toString();
}

export function conditionEnvironment(
  types: TypeRegistry,
  typeId: string,
  alias: string,
  variables: Variables,
): CompileEnvironment {
  const type = types.byId.get(typeId);
  return {
    alias,
    variables,
    stateIdsByCode: (code) =>
      [...types.states.values()].filter((state) => state.code === code).map((state) => state.id),
    stateIdsByCategory: (category) =>
      [...types.states.values()].filter((state) => state.category === category).map((state) => state.id),
    typeIdByCode: (code) => types.byCode.get(code)?.id,
    mismatch: ({ code }) => {
      const versions = type === undefined ? [] : mismatchedVersions(type, code);
      return versions.length === 0 ? null : sql`${raw(alias)}.type_version = ANY(${versions}::int[])`;
    },
  };
}

/**
 * The values of the condition language's variables for a user at an instant (docs/spec/search.md#condition-language). The date is
 * computed on demand: few conditions use it, and it takes time zone arithmetic.
 *
 * This is a class because each evaluation of an object literal with getters makes a new hidden class of the engine, which is
 * expensive and keeps the getters and all that they refer to until the next full garbage collection.
 */
export class CurrentVariables implements Variables {
  readonly me: string;
  readonly groups: readonly string[];
  readonly orgUnit: string | null;
  readonly orgUnits: readonly string[];
  readonly #types: TypeRegistry;
  readonly #now: string;
  readonly #onTime: (() => void) | undefined;

  /** @param onTime called when a condition reads the time */
  constructor(user: ActorVariables, types: TypeRegistry, now: string, onTime?: () => void) {
    this.me = user.me;
    this.groups = user.groups;
    this.orgUnit = user.orgUnit;
    this.orgUnits = user.orgUnits;
    this.#types = types;
    this.#now = now;
    this.#onTime = onTime;
  }

  get now(): string {
    this.#onTime?.();
    return this.#now;
  }

  get today(): string {
    this.#onTime?.();
    return today(this.#types, this.#now);
  }
}

/** The values of the variables in this unit of work, by default for the acting user. */
export function variables(ctx: ReadContext, user: ActorVariables = ctx.actor.variables): Variables {
  return new CurrentVariables(user, registry(ctx), ctx.now);
}

/**
 * The value that `set` of a transition or a catalogue item writes: a stored value, or the current value of a variable.
 *
 * @returns the value in the stored form of the field; null if the field is cleared or the variable has no value
 */
export function setValue(ctx: ReadContext, field: FieldDefinition, configured: unknown): unknown {
  if (typeof configured !== 'string' || !configured.startsWith('$')) return configured;
  if (configured.startsWith('$$')) return configured.slice(1);
  const operand = readVariable(configured);
  const values = operand === undefined ? [] : resolveOperand(operand, variables(ctx));
  if (values.length === 0) return null;
  return field.multiple ? [...values] : values[0];
}

/**
 * Translates an API request to a configuration item: requests refer to users and types by id, items by login and code. Both use
 * the same compiler, so a subscription created by the API equals one from a bundle and can be exported.
 */
import { type Condition, type FieldResolver, resolverOf } from '../../lib/filter.ts';
import { sectionOf } from '../../lib/data-types/index.ts';
import type { CompileView } from '../../configuration/section.ts';
import { isId } from '../../lib/ids.ts';
import type { TypeShape } from '../../configuration/record-types.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { findType, registry } from '../metadata/index.ts';
import { findNames } from './store.ts';

export interface Names {
  /** The code or login of an id in a section; undefined for an unknown id. */
  code(section: string, id: string): string | undefined;
  /** Whether the user, group or unit is active. */
  active(id: string): boolean;
  view: CompileView;
}

function idsIn(value: unknown, found: Set<string>): Set<string> {
  if (typeof value === 'string') {
    if (isId(value)) found.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) idsIn(part, found);
  }
  return found;
}

/** Types and fields that the caller may refer to. Callers with `role.assign` or `config.manage` may refer to all. */
function knownTypes(ctx: ReadContext): ReadonlyMap<string, TypeShape> {
  const all = ctx.actor.has('role.assign') || ctx.actor.has('config.manage');
  const shapes = new Map<string, TypeShape>();
  for (const type of registry(ctx).active) {
    if (!all && !ctx.actor.mayEver(type.id, 'read')) continue;
    const { definition } = type.newest;
    const fields = definition.fields.filter(({ code }) => all || ctx.actor.mayEverRead(type.id, code));
    shapes.set(type.code, { ...definition, fields });
  }
  return shapes;
}

/** Loads the names of all ids in `parts` that could be references, and builds the view for the compiler. */
export async function loadNames(ctx: ReadContext, secretCodes: readonly string[], parts: unknown): Promise<Names> {
  const types = knownTypes(ctx);
  const entries = new Map<string, string>();
  const codes = new Map<string, string>();
  const add = (section: string, id: string, code: string): void => {
    entries.set(`${section} ${code}`, id);
    codes.set(`${section} ${id}`, code);
  };
  for (const code of types.keys()) add('types', findType(registry(ctx), code)?.id ?? '', code);
  for (const { id, code, state } of ctx.config.items('services')) if (state === 'ACTIVE') add('services', id, code);
  for (const code of secretCodes) entries.set(`signingSecrets ${code}`, '');
  const people = await findNames(ctx, [...idsIn(parts, new Set())]);
  for (const { section, id, code } of people) add(section, id, code);
  const active = new Set(people.flatMap((one) => (one.active ? one.id : [])));
  const workflows = new Map(ctx.config.items('workflows').map(({ code, compiled }) => [code, compiled]));
  const named = (section: string): ReadonlyMap<string, unknown> => (section === 'types' ? types : workflows);
  const view: CompileView = {
    has: (section, code) => entries.has(`${section} ${code}`),
    get: (section, code) => named(section).get(code) as never,
    active: (section) => named(section) as never,
    archived: () => new Map(),
    stored: () => undefined,
    versions: () => [],
    id: (section, code) => entries.get(`${section} ${code}`) ?? '',
    nested: () => {
      throw new Error('a subscription has no things inside');
    },
  };
  return {
    code: (section, id) => codes.get(`${section} ${id}`),
    active: (id) => active.has(id),
    view,
  };
}

/** Resolves a field code to the field of the first type that has it. */
function resolverOfTypes(types: readonly TypeShape[]): FieldResolver {
  const fields = types.flatMap((type) => type.fields).reverse();
  return resolverOf(fields.map(({ code, dataType, multiple }) => ({ code, kind: 'value', dataType, multiple })));
}

/** The condition with codes and logins instead of ids. Unknown ids stay unchanged, and the compiler reports them. */
export function withCodes(condition: unknown, names: Names, typeCodes: readonly string[]): Condition {
  const { view } = names;
  const shapes =
    typeCodes.length === 0
      ? [...view.active<TypeShape>('types').values()]
      : typeCodes.flatMap((code) => view.get<TypeShape>('types', code) ?? []);
  const resolve = resolverOfTypes(shapes);
  const walk = (part: unknown, depth: number): unknown => {
    if (typeof part !== 'object' || part === null || Array.isArray(part) || depth > 64) return part;
    const members = part as Record<string, unknown>;
    const { conditions, field: code, value } = members;
    if (Array.isArray(conditions)) {
      return { ...members, conditions: conditions.map((inner) => walk(inner, depth + 1)) };
    }
    const field = typeof code === 'string' ? resolve(code) : undefined;
    if (field === undefined) return part;
    const section = field.kind === 'system' && field.code === 'typeId' ? 'types' : sectionOf(field.dataType);
    if (section === undefined) return part;
    const named = (one: unknown): unknown => (typeof one === 'string' ? (names.code(section, one) ?? one) : one);
    return { ...members, value: Array.isArray(value) ? value.map(named) : named(value) };
  };
  return walk(condition, 1) as Condition;
}

/**
 * Translates the input of an API call to a configuration item: calls refer to users and types by id, items by login and code.
 * Both use the compiler of the section. So an integration created by a call equals one created by a bundle, and exports like
 * it.
 */
import type { CompileView } from '../../configuration/section.ts';
import { loadItems } from '../../configuration/store.ts';
import type { TypeShape } from '../../configuration/record-types.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { whoIs } from '../identity/index.ts';

export interface Names {
  /** Login of the user, who must be active. */
  login: string | undefined;
  /** The code of an active type, given its id or code. */
  typeCode(idOrCode: string): string | undefined;
  view: CompileView;
}

/**
 * Loads the names that a call may use. Types and fields are those that the caller may read or write. Callers with `role.assign`
 * or `config.manage` may use all. Call it under the lock of the configuration.
 */
export async function loadNames(ctx: ReadContext, principalId: string | null): Promise<Names> {
  const { actor } = ctx;
  const all = actor.has('role.assign') || actor.has('config.manage');
  const ids = new Map<string, string>();
  const shapes = new Map<string, TypeShape>();
  for (const { id, code, state, definition } of await loadItems(ctx, 'types')) {
    if (state !== 'ACTIVE') continue;
    if (!all && !actor.mayEver(id, 'read') && !actor.mayEver(id, 'create')) continue;
    const shape = definition as TypeShape;
    const known = (field: string): boolean => all || actor.mayEverRead(id, field) || actor.mayEverWrite(id, field);
    ids.set(id, code);
    shapes.set(code, { ...shape, fields: shape.fields.filter((field) => known(field.code)) });
  }
  const person = principalId === null ? undefined : await whoIs(ctx, principalId);
  const login = person?.state === 'ACTIVE' ? person.login : undefined;
  const idOf = (section: string, code: string): string | undefined => {
    if (section === 'users') return code === login ? person?.id : undefined;
    return section === 'types' ? [...ids].find(([, known]) => known === code)?.[0] : undefined;
  };
  const none: ReadonlyMap<string, never> = new Map<string, never>();
  const view: CompileView = {
    has: (section, code) => idOf(section, code) !== undefined,
    get: <Definition>(section: string, code: string) =>
      (section === 'types' ? shapes.get(code) : undefined) as Definition | undefined,
    active: <Definition>(section: string) =>
      (section === 'types' ? shapes : none) as unknown as ReadonlyMap<string, Definition>,
    archived: () => none,
    stored: () => undefined,
    versions: () => [],
    id: (section, code) => {
      const id = idOf(section, code);
      if (id === undefined) throw new Error(`no id was asked for first: ${section} ${code}`);
      return id;
    },
    nested: () => {
      throw new Error('an integration has no things inside that have ids');
    },
  };
  return { login, typeCode: (idOrCode) => ids.get(idOrCode) ?? (shapes.has(idOrCode) ? idOrCode : undefined), view };
}

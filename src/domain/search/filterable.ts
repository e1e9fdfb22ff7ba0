/** What a caller's filter may name on the records of each type that they read. */
import type { FilterField } from '../../lib/filter.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import { fieldResolver, registry } from '../metadata/door.ts';
import type { FilterableType } from './filter.ts';

export function filterableTypes(ctx: ReadContext, typeIds?: readonly string[]): FilterableType[] {
  const types = registry(ctx);
  const readable = ctx.actor.typesFor('read').filter((typeId) => typeIds === undefined || typeIds.includes(typeId));
  return readable.sort().flatMap((typeId) => {
    const type = types.byId.get(typeId);
    if (type === undefined) return [];
    const resolve = fieldResolver(type);
    const fields = new Map<string, FilterField>();
    for (const { code, search } of type.newest.fields.values()) {
      const field = search.filter && ctx.actor.mayEverRead(typeId, code) ? resolve(code) : undefined;
      if (field !== undefined) fields.set(code, field);
    }
    return [{ typeId, fields, owns: (code) => type.newest.fields.has(code) }];
  });
}

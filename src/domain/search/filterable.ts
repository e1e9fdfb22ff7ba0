/** The fields that the caller's filter may use on each type that they may read. */
import type { FilterField } from '../../lib/filter.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { fieldResolver, registry } from '../metadata/index.ts';
import type { FilterableType } from './filter.ts';

export function filterableTypes(ctx: ReadContext, typeIds?: readonly string[]): FilterableType[] {
  const types = registry(ctx);
  const readable = ctx.actor.typesFor('read').filter((typeId) => typeIds === undefined || typeIds.includes(typeId));
  const known = readable.flatMap((typeId) => types.byId.get(typeId) ?? []);
  // The order is the same in every installation, because the first type determines the error message.
  return known
    .sort((a, b) => (a.code < b.code ? -1 : 1))
    .map((type) => {
      const typeId = type.id;
      const resolve = fieldResolver(type);
      const fields = new Map<string, FilterField>();
      for (const { code, search } of type.newest.fields.values()) {
        const field = search.filter && ctx.actor.fieldAccess(typeId).canRead(code) ? resolve(code) : undefined;
        if (field !== undefined) fields.set(code, field);
      }
      return { typeId, fields, owns: (code) => type.newest.fields.has(code) };
    });
}

/** What the impact of a plan must not count for a caller who may not read all fields. */
import type { ImpactContext } from '../../configuration/impact.ts';
import { typeView } from './registry.ts';

/** The fields that a condition uses, as configured or parsed. */
function fieldsIn(where: unknown): string[] {
  const { conditions = [], field } = where as { conditions?: unknown[]; field?: string | { code: string } };
  const own = field === undefined ? [] : [typeof field === 'string' ? field : field.code];
  return [...own, ...conditions.flatMap(fieldsIn)];
}

/**
 * Whether one of the conditions uses a field of the type that a limited caller cannot read on every record. The records that it
 * matches would tell the values.
 */
export function usesHiddenField(
  { before, after, limit }: Pick<ImpactContext, 'before' | 'after' | 'limit'>,
  typeId: string,
  conditions: Iterable<unknown>,
): boolean {
  const was = before.config.get(typeView).byId.get(typeId);
  if (limit === null || was === undefined) return false;
  const access = limit.fieldAccess(typeId);
  const isHidden = (code: string): boolean => {
    const former = after.config.get(typeView).byId.get(typeId)?.newest.fields.get(code)?.former ?? [];
    // Records of older versions may have another title field.
    const own = code === 'title' ? [...was.versions.values()].flatMap(({ titleField }) => titleField ?? []) : [];
    const isKnown = (one: string): boolean => was.newest.fields.has(one) || own.includes(one);
    return [code, ...former, ...own].some((one) => isKnown(one) && !access.canAlwaysRead(one));
  };
  return [...conditions].some((where) => where !== undefined && where !== null && fieldsIn(where).some(isHidden));
}

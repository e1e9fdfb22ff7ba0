/** What the impact of a plan must not count for a caller who may not read all fields. */
import type { ImpactContext } from '../../configuration/impact.ts';
import { typeView } from '../metadata/index.ts';
import type { RoleDefinition } from './roles.ts';

/** The fields that a condition uses. */
function fieldsIn(where: unknown): string[] {
  const { conditions = [], field } = where as { conditions?: unknown[]; field?: string };
  return [...(field === undefined ? [] : [field]), ...conditions.flatMap(fieldsIn)];
}

/**
 * Whether a role has a condition on a field of the type that the limited caller cannot read on every record. The records that it
 * matches would tell the values.
 */
export function hasHiddenCondition({ before, after, limit }: ImpactContext, typeId: string): boolean {
  const was = before.config.get(typeView).byId.get(typeId);
  if (limit === null || was === undefined) return false;
  const isHidden = (code: string): boolean => {
    const former = after.config.get(typeView).byId.get(typeId)?.newest.fields.get(code)?.former ?? [];
    const own = code === 'title' && was.newest.titleField !== null ? [was.newest.titleField] : [];
    return [code, ...former, ...own].some(
      (one) => was.newest.fields.has(one) && !limit.fieldAccess(typeId).canAlwaysRead(one),
    );
  };
  return [before, after].some(({ config }) =>
    config
      .items('roles')
      .some(({ compiled }) =>
        (compiled as Pick<RoleDefinition, 'records'>).records.some(
          ({ where }) => where !== undefined && fieldsIn(where).some(isHidden),
        ),
      ),
  );
}

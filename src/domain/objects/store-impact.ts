/** Stored records that a changed type concerns. */
import sql from 'sql-template-tag';
import { shuffled } from '../../configuration/store-impact.ts';
import type { ImpactExample } from '../../configuration/impact.ts';
import type { StoredValues } from '../metadata/index.ts';
import type { Actor, ReadContext } from '../../platform/unit-of-work/context.ts';

export interface RecordValues extends ImpactExample {
  typeVersion: number;
  values: StoredValues;
  /** Whether the caller may read the record. */
  visible: boolean;
}

/** Whose records count, and whose may be named. */
export interface Scope {
  limit: Actor | null;
  caller: Actor;
}

function conditions({ limit, caller }: Scope, typeId: string, now: string) {
  const of = (actor: Actor) => actor.visible('o', 'read', now, [typeId]) ?? sql`false`;
  return { counted: limit === null ? sql`true` : of(limit), visible: of(caller) };
}

/** The records of a type that count, in a random order. */
export async function shuffledRecords(ctx: ReadContext, scope: Scope, typeId: string) {
  const { counted } = conditions(scope, typeId, ctx.now);
  return await shuffled(ctx, sql`(SELECT o.id FROM objects o WHERE o.type_id = ${typeId}::uuid AND ${counted}) x`);
}

/** The records with the ids that count. */
export async function valuesOf(
  ctx: ReadContext,
  scope: Scope,
  typeId: string,
  ids: readonly string[],
): Promise<RecordValues[]> {
  const { counted, visible } = conditions(scope, typeId, ctx.now);
  return await ctx.query<RecordValues>(sql`
    SELECT o.id, o.number, o.type_version AS "typeVersion", o."values", coalesce(${visible}, false) AS visible FROM objects o
    WHERE o.type_id = ${typeId}::uuid AND o.id = ANY(${[...ids]}::uuid[]) AND ${counted}`);
}

export interface InState {
  stateId: string;
  records: number;
  examples: ImpactExample[];
}

/** The records of the type by workflow state, without those in one of the given states. */
export async function otherStates(
  ctx: ReadContext,
  scope: Scope,
  typeId: string,
  states: readonly string[],
): Promise<InState[]> {
  const { counted, visible } = conditions(scope, typeId, ctx.now);
  return await ctx.query<InState>(sql`
    SELECT o.workflow_state_id AS "stateId", count(*)::int AS records, coalesce(
        jsonb_path_query_array(jsonb_agg(jsonb_build_object('id', o.id, 'number', o.number) ORDER BY o.id)
          FILTER (WHERE ${visible}), '$[0 to 9]'), '[]') AS examples
    FROM objects o
    WHERE o.type_id = ${typeId}::uuid AND o.workflow_state_id <> ALL(${[...states]}::uuid[]) AND ${counted}
    GROUP BY 1 ORDER BY 2 DESC`);
}

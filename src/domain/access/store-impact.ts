/**
 * What a user or role may do with the records and fields of a type before and after a change of the configuration, and counts of
 * the records for which that differs: in one statement, so that both see the same data.
 */
import { hash } from 'node:crypto';
import sql, { join, raw, type Sql } from 'sql-template-tag';
import { MAX_EXACT, SAMPLE, sampleError, sampleOf } from '../../configuration/store-impact.ts';
import type { ImpactContext, ImpactExample } from '../../configuration/impact.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { type RecordType, typeView } from '../metadata/index.ts';
import type { UserActor } from './actor.ts';
import { userQuery, type UserRow } from './store.ts';

/** The active users in the order of their ids, with all that rights depend on. @param after the last id of the page before */
export async function loadActiveUsers(
  ctx: Pick<ReadContext, 'query'>,
  after: string | null,
  limit: number,
): Promise<UserRow[]> {
  return await ctx.query<UserRow>(sql`
    SELECT x.* FROM (SELECT id FROM users WHERE state = 'ACTIVE' AND (${after}::uuid IS NULL OR id > ${after}::uuid)
      ORDER BY id LIMIT ${limit}::int) p, LATERAL (${userQuery(sql`p.id`)}) x ORDER BY x.id`);
}

/** Predicates on records of one type under `o` that are never null: what one user or role may do before and after the change. */
export interface Shift {
  before: Sql;
  after: Sql;
  /** Equal for equal predicates. */
  key: string;
}

/** An actor before and after the change; undefined where the user is not active or does not exist. */
export interface Actors {
  before: UserActor | undefined;
  after: UserActor | undefined;
}

export interface FieldShift {
  field: string;
  access: 'read' | 'write';
  /** Set if the field is readable, or writable, on some records in only one of the configurations. */
  general: 'gained' | 'lost' | undefined;
  /** Concerns the records that can be read, or changed, both before and after: changes of the others are changes of records. */
  shift: Shift;
}

/** The shifts of one type; without those that change nothing. */
export interface TypeShifts {
  read: Shift | undefined;
  write: Shift | undefined;
  fields: FieldShift[];
}

/** Never null, so that it can be negated. */
const isTrue = (condition: Sql | null | undefined): Sql =>
  condition === null || condition === undefined ? sql`false` : sql`coalesce(${condition}, false)`;
const covers = (predicate: Sql | null | undefined): Sql => (predicate === null ? sql`true` : isTrue(predicate));
const both = (one: Sql, other: Sql): Sql => sql`(${one} AND ${other})`;
const textOf = (condition: Sql): string => JSON.stringify([condition.sql, condition.values]);

function shiftOf(before: Sql, after: Sql): Shift | undefined {
  const [was, is] = [textOf(before), textOf(after)];
  // A hash, because the keys of thousands of users are sorted, joined and looked up.
  return was === is ? undefined : { before, after, key: hash('sha256', `${was}${is}`, 'base64url') };
}

/** Fields that both configurations have, with their code before and after. */
function commonFields(type: RecordType, now: RecordType | undefined): { old: string; field: string }[] {
  const found: { old: string; field: string }[] = [];
  for (const { code: field, former = [] } of now?.newest.fields.values() ?? []) {
    const old = [field, ...former].find((code) => type.newest.fields.has(code));
    if (old !== undefined) found.push({ old, field });
  }
  return found;
}

/** The shifts on one type; undefined if nothing changes. */
export function shiftsOn(
  { before, after }: Actors,
  type: RecordType,
  { after: { config, now } }: Pick<ImpactContext, 'after'>,
): TypeShifts | undefined {
  const can = (actor: UserActor | undefined, action: 'read' | 'update'): Sql =>
    isTrue(actor?.visible('o', action, now, [type.id]));
  const [couldRead, canRead] = [can(before, 'read'), can(after, 'read')];
  // A record can be changed only by those who can also read it.
  const [couldWrite, canWrite] = [both(couldRead, can(before, 'update')), both(canRead, can(after, 'update'))];
  const common = commonFields(type, config.get(typeView).byId.get(type.id));
  const fields = (['read', 'write'] as const).flatMap((access) => {
    const had = before?.fieldPredicates('o', type.id, { access, codes: common.map(({ old }) => old), now });
    const has = after?.fieldPredicates('o', type.id, { access, codes: common.map(({ field }) => field), now });
    const stays = access === 'read' ? both(couldRead, canRead) : both(couldWrite, canWrite);
    // Few predicates are shared by many fields.
    const made: { was: unknown; is: unknown; shift: Shift | undefined }[] = [];
    const shiftBetween = (was: Sql | null | undefined, is: Sql | null | undefined): Shift | undefined => {
      let one = made.find((known) => known.was === was && known.is === is);
      if (one === undefined) {
        one = { was, is, shift: shiftOf(both(stays, covers(was)), both(stays, covers(is))) };
        made.push(one);
      }
      return one.shift;
    };
    return common.flatMap(({ old, field }): FieldShift[] => {
      const [was, is] = [had?.get(old), has?.get(field)];
      const shift = shiftBetween(was, is);
      if (shift === undefined) return [];
      const general = (was === undefined) === (is === undefined) ? undefined : was === undefined ? 'gained' : 'lost';
      return [{ field, access, general, shift }];
    });
  });
  const [read, write] = [shiftOf(couldRead, canRead), shiftOf(couldWrite, canWrite)];
  return read === undefined && write === undefined && fields.length === 0 ? undefined : { read, write, fields };
}

export interface Counted {
  gained: number;
  lost: number;
}

/** Groups in one statement. */
export const BATCH = 20;

/** How records of a type are read: all, or a sample with the factor by which counts grow. */
export interface Population {
  factor: number;
  /** Zero if exact. */
  errorBound: number;
  /** Selects the counted records: those of the type that `limit` allows to be counted. */
  where: Sql;
}

/**
 * @param limit the predicate of the records that may be counted; null for none, undefined for all
 * @param most the size of the sample of a larger type
 */
export async function populationOf(
  ctx: ReadContext,
  typeId: string,
  { limit, most }: { limit: Sql | null | undefined; most?: number },
): Promise<Population> {
  const scope = limit === undefined ? sql`true` : limit === null ? sql`false` : sql`coalesce(${limit}, false)`;
  const where = sql`o.type_id = ${typeId}::uuid AND ${scope}`;
  const rows = sql`(SELECT o.id FROM objects o WHERE ${where}) x`;
  const { total, ids } = await sampleOf(ctx, rows, { exact: most ?? MAX_EXACT, size: most ?? SAMPLE });
  if (ids === null) return { factor: 1, errorBound: 0, where };
  return {
    factor: total / ids.length,
    errorBound: sampleError(total, ids.length) ?? total,
    where: sql`o.id = ANY(${ids}::uuid[]) AND ${where}`,
  };
}

/** Counts of each group, in order: a record counts if it changes for any shift of the group. At most `BATCH` groups. */
export async function countShifts(
  ctx: ReadContext,
  { where, factor }: Population,
  groups: readonly (readonly Shift[])[],
): Promise<Counted[]> {
  const columns = groups.flatMap((group, index) => {
    const column = (name: string, one: (shift: Shift) => Sql): Sql =>
      sql`count(*) FILTER (WHERE ${join(group.map(one), ' OR ')})::int AS ${raw(`${name}${index}`)}`;
    return [
      column('gained', ({ before, after }) => sql`(NOT ${before} AND ${after})`),
      column('lost', ({ before, after }) => sql`(NOT ${after} AND ${before})`),
    ];
  });
  const [row = {}] = await ctx.query<Record<string, number>>(
    sql`SELECT ${join(columns)} FROM objects o WHERE ${where}`,
  );
  const of = (name: string, index: number): number => Math.round((row[`${name}${index}`] ?? 0) * factor);
  return groups.map((_, index) => ({ gained: of('gained', index), lost: of('lost', index) }));
}

/** Up to ten records for which a shift changes and that `visible` admits. */
export async function shiftExamples(
  ctx: ReadContext,
  { where }: Population,
  shifts: readonly Shift[],
  visible: Sql | null,
): Promise<ImpactExample[]> {
  if (visible === null || shifts.length === 0) return [];
  const changes = shifts.map(({ before, after }) => sql`${before} <> ${after}`);
  return await ctx.query<ImpactExample>(sql`
    SELECT o.id, o.number FROM objects o WHERE ${where} AND ${visible} AND (${join(changes, ' OR ')}) LIMIT 10`);
}

/** Id → code of these groups and organisation units. */
export async function findCodes(ctx: ReadContext, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await ctx.query<{ id: string; code: string }>(sql`
    SELECT id, code FROM groups WHERE id = ANY(${[...ids]}::uuid[])
    UNION ALL SELECT id, code FROM org_units WHERE id = ANY(${[...ids]}::uuid[])`);
  return new Map(rows.map(({ id, code }) => [id, code]));
}

/**
 * The access filter: the part of the index that a caller may search, and the filter of a search, as SQL on a record `o` and its row
 * `s`. Hidden data is excluded from the match itself (docs/spec/search.md#search).
 */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { TypedCondition, TypedField, Variables } from '../../../lib/filter.ts';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import { registry, conditionEnvironment } from '../../metadata/index.ts';
import { type IndexProfiles, type IndexUpToDate, profileView } from '../indexing/profile.ts';
import { fieldTokenOf } from '../indexing/lexemes.ts';
import type { RecordRule } from '../memory/conditions.ts';
import { compileCondition } from '../../../platform/database/filter-sql.ts';
import { canHold, type TypedFilter } from '../filter.ts';

/** Field tokens whose words may be used on the records for which `holds` is true. */
export interface FieldTokenClass {
  fieldTokens: readonly string[];
  holds: Sql;
  /** The same for the index in memory. */
  rule: RecordRule;
}

/** Rows with one of these profiles, or of records of one of these types. */
export interface Trusted {
  profileIds: ReadonlySet<number>;
  typeIds: ReadonlySet<string>;
}

export interface AccessFilter {
  typeIds: readonly string[];
  /** Predicate on `o` for the readable records. */
  visible: Sql;
  /** Predicate on `o` and `s` for the rows whose words may be used; null for all rows. */
  trusted: Sql | null;
  /** The same for the index in memory. */
  trustedBy: Trusted | null;
  /** Field tokens that may be used on all of them. The first is empty: text that every reader of the record may read. */
  free: readonly string[];
  classes: readonly FieldTokenClass[];
}

/** The access filter of the caller; null if they may read no records. */
export async function accessFilterOf(
  ctx: ReadContext,
  upToDate: IndexUpToDate,
  typeIds?: readonly string[],
): Promise<AccessFilter | null> {
  const { actor } = ctx;
  const readable = new Set(actor.typesFor('read'));
  const among = [...readable].filter((typeId) => typeIds === undefined || typeIds.includes(typeId)).sort();
  const visible = actor.visible('o', 'read', ctx.now, among);
  if (among.length === 0 || visible === null) return null;
  const profiles = ctx.config.get(profileView);
  const isUpToDate = await upToDate.is(ctx);
  const trustedBy = trustedRecords(ctx, profiles, among);
  return {
    typeIds: among,
    visible,
    trusted: trustedProfiles(trustedBy),
    trustedBy,
    ...fieldTokensOf(ctx, among, (typeId) =>
      isUpToDate ? profiles.fieldsWithToken(typeId) : profiles.textFields(typeId),
    ),
  };
}

/** The additional predicate of statements that use words. */
export function trustedRows({ trusted }: AccessFilter): Sql {
  return trusted === null ? empty : sql`AND ${trusted}`;
}

/** Rows with an outdated profile are used only for callers who may read every field. Null for all rows. */
function trustedRecords(ctx: ReadContext, profiles: IndexProfiles, typeIds: readonly string[]): Trusted | null {
  const whole = typeIds.filter((typeId) =>
    profiles.textFields(typeId).every((code) => ctx.actor.fieldAccess(typeId).canAlwaysRead(code)),
  );
  if (whole.length === typeIds.length) return null;
  return { profileIds: new Set(profiles.usableIds), typeIds: new Set(whole) };
}

function trustedProfiles(trusted: Trusted | null): Sql | null {
  if (trusted === null) return null;
  const current = sql`s.profile_id = ANY(${[...trusted.profileIds]}::int[])`;
  return trusted.typeIds.size === 0 ? current : sql`(${current} OR o.type_id = ANY(${[...trusted.typeIds]}::uuid[]))`;
}

function fieldTokensOf(
  ctx: ReadContext,
  typeIds: readonly string[],
  codesOf: (typeId: string) => readonly string[],
): { free: string[]; classes: FieldTokenClass[] } {
  const { actor } = ctx;
  const { storedCode } = ctx.config.get(profileView);
  const byCode = new Map<string, { typeId: string; code: string }[]>();
  for (const typeId of typeIds) {
    for (const code of codesOf(typeId)) {
      const token = storedCode(typeId, code);
      byCode.set(token, [...(byCode.get(token) ?? []), { typeId, code }]);
    }
  }
  const free = [''];
  const classes = new Map<string, { fieldTokens: string[]; holds: Sql; rule: RecordRule }>();
  for (const [token, of] of [...byCode].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const isAlways = ({ typeId, code }: (typeof of)[number]): boolean => actor.fieldAccess(typeId).canAlwaysRead(code);
    const always = of.filter(isAlways).map(({ typeId }) => typeId);
    if (always.length === of.length) {
      free.push(fieldTokenOf(token));
      continue;
    }
    const parts = of.flatMap(({ typeId, code }) => {
      if (always.includes(typeId) || !actor.fieldAccess(typeId).canRead(code)) return [];
      return [
        sql`(o.type_id = ${typeId}::uuid AND ${actor.fieldAccess(typeId).whereReadable('o', code, ctx.now) ?? sql`true`})`,
      ];
    });
    if (always.length > 0) parts.unshift(sql`o.type_id = ANY(${always}::uuid[])`);
    if (parts.length === 0) continue;
    const holds = sql`(${join(parts, ' OR ')})`;
    const key = `${holds.text} ${JSON.stringify(holds.values)}`;
    const known = classes.get(key);
    const rule = new Map(always.map((typeId) => [typeId, null] as [string, TypedCondition | null]));
    for (const { typeId, code } of of) {
      const condition = actor.fieldAccess(typeId).ruleOf(code);
      if (condition !== undefined && !rule.has(typeId)) rule.set(typeId, condition);
    }
    if (known === undefined) classes.set(key, { fieldTokens: [fieldTokenOf(token)], holds, rule });
    else known.fieldTokens.push(fieldTokenOf(token));
  }
  return { free, classes: [...classes.values()] };
}

/** Predicate for the rows on which the caller may read the title. True or false if that holds for all rows of these types. */
export function whereTitlesReadable(ctx: ReadContext, typeIds: readonly string[]): Sql {
  const always: string[] = [];
  const parts: Sql[] = [];
  for (const typeId of typeIds) {
    const readable = whereTitleReadable(ctx, typeId);
    if (readable === null) always.push(typeId);
    else parts.push(sql`(o.type_id = ${typeId}::uuid AND ${readable})`);
  }
  if (always.length > 0) parts.unshift(sql`o.type_id = ANY(${always}::uuid[])`);
  return parts.length === 0 ? sql`false` : sql`(${join(parts, ' OR ')})`;
}

/** The records of the type whose title the caller may read; null for all visible ones. */
export function whereTitleReadable(ctx: ReadContext, typeId: string): Sql | null {
  const versions = registry(ctx).byId.get(typeId)?.versions.values() ?? [];
  const fields = new Set([...versions].flatMap(({ titleField }) => (titleField === null ? [] : [titleField])));
  // Versions may have different title fields. The title is readable if all of these fields are readable.
  const access = ctx.actor.fieldAccess(typeId);
  const each = [...fields].flatMap((code) => access.whereReadable('o', code, ctx.now) ?? []);
  return each.length === 0 ? null : sql`(${join(each, ' AND ')})`;
}

const NOBODY = {
  me: '',
  groups: [],
  orgUnit: null,
  orgUnits: [],
};

/** Null if no record can match. Types that cannot match are left out, so that indexes of a single type can be used. */
export function filterPredicate(
  ctx: ReadContext,
  filters: readonly TypedFilter[],
  // Requests for searches may not use variables.
  variables: Variables = { ...NOBODY, now: ctx.now, today: ctx.now.slice(0, 10) },
): Sql | null {
  const types = registry(ctx);
  const parts: Sql[] = [];
  for (const filter of filters) {
    const alike = new Map<string, { typeIds: string[]; condition: Sql }>();
    for (const typeId of filter.typeIds) {
      const missing = (field: TypedField): boolean => !filter.has(typeId, field);
      if (!canHold(filter.condition, missing)) continue;
      const environment = {
        ...conditionEnvironment(types, typeId, 'o', variables),
        whereReadable: (_code: string, field: TypedField): Sql | null =>
          missing(field) ? sql`false` : whereReadable(ctx, typeId, field),
      };
      const condition = compileCondition(filter.condition, environment);
      const key = `${condition.text} ${JSON.stringify(condition.values)}`;
      const known = alike.get(key);
      if (known === undefined) alike.set(key, { typeIds: [typeId], condition });
      else known.typeIds.push(typeId);
    }
    for (const { typeIds, condition } of alike.values()) {
      const [only, ...others] = typeIds;
      parts.push(
        others.length === 0
          ? sql`(o.type_id = ${only}::uuid AND ${condition})`
          : sql`(o.type_id = ANY(${typeIds}::uuid[]) AND ${condition})`,
      );
    }
  }
  if (parts.length === 0) return null;
  return sql`(${join(parts, ' OR ')})`;
}

/** The rows of the type on which the caller may read the field; null for all visible ones. */
function whereReadable(ctx: ReadContext, typeId: string, field: TypedField): Sql | null {
  if (field.kind === 'value') return ctx.actor.fieldAccess(typeId).whereReadable('o', field.code, ctx.now);
  // The title is the text of a field and is hidden with it.
  return field.code === 'title' ? whereTitleReadable(ctx, typeId) : null;
}

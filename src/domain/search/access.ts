/**
 * What a caller may search, as data. Hidden data is excluded from the match itself (docs/spec/search.md#search), so rights are
 * conditions of the question like those of a filter.
 */
import type { TypedCondition, TypedField } from '../../lib/filter.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry } from '../metadata/index.ts';
import { fieldTokenOf } from './indexing/lexemes.ts';
import { type IndexUpToDate, profileView } from './indexing/profile.ts';
import type { Access, RecordRule } from './query.ts';

/** Null if the caller may read no records of these types, or of any. */
export async function accessOf(
  ctx: ReadContext,
  upToDate: IndexUpToDate,
  among?: readonly string[],
): Promise<Access | null> {
  const readable = new Set(ctx.actor.typesFor('read'));
  const typeIds = [...readable].filter((typeId) => among === undefined || among.includes(typeId)).sort();
  const rights = ctx.actor.rule('read', typeIds);
  if (rights.size === 0) return null;
  const profiles = ctx.config.get(profileView);
  const isUpToDate = await upToDate.is(ctx);
  const codesOf = isUpToDate ? profiles.fieldsWithToken : profiles.textFields;
  return { typeIds, rights, trusted: trustedRows(ctx, typeIds), ...fieldTokensOf(ctx, typeIds, codesOf) };
}

/** Rows with an outdated profile are used only for callers who may read every field. */
function trustedRows(ctx: ReadContext, typeIds: readonly string[]): Access['trusted'] {
  const profiles = ctx.config.get(profileView);
  const whole = typeIds.filter((typeId) =>
    profiles.textFields(typeId).every((code) => ctx.actor.fieldAccess(typeId).canAlwaysRead(code)),
  );
  if (whole.length === typeIds.length) return null;
  return { profileIds: new Set(profiles.usableIds), typeIds: new Set(whole) };
}

function fieldTokensOf(
  ctx: ReadContext,
  typeIds: readonly string[],
  codesOf: (typeId: string) => readonly string[],
): Pick<Access, 'free' | 'classes'> {
  const { storedCode } = ctx.config.get(profileView);
  /** Stored code → the records on which fields with this code may be read. */
  const rules = new Map<string, { rule: Map<string, TypedCondition | null>; isAlways: boolean }>();
  for (const typeId of typeIds) {
    for (const code of codesOf(typeId)) {
      const token = storedCode(typeId, code);
      const known = rules.get(token) ?? { rule: new Map<string, TypedCondition | null>(), isAlways: true };
      rules.set(token, known);
      const condition = ctx.actor.fieldAccess(typeId).ruleOf(code);
      if (condition !== null) known.isAlways = false;
      if (condition !== undefined) known.rule.set(typeId, condition);
    }
  }
  const free = [''];
  const classes = new Map<string, { fieldTokens: string[]; rule: RecordRule }>();
  for (const [token, { rule, isAlways }] of [...rules].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (isAlways) free.push(fieldTokenOf(token));
    else if (rule.size > 0) {
      const key = JSON.stringify([...rule]);
      const known = classes.get(key);
      if (known === undefined) classes.set(key, { fieldTokens: [fieldTokenOf(token)], rule });
      else known.fieldTokens.push(fieldTokenOf(token));
    }
  }
  return { free, classes: [...classes.values()] };
}

/** The records of the type on which the field may be read; null for all that the caller may read, undefined for none. */
export function readableRule(
  ctx: ReadContext,
  typeId: string,
  { kind, code }: Pick<TypedField, 'kind' | 'code'>,
): TypedCondition | null | undefined {
  const access = ctx.actor.fieldAccess(typeId);
  if (kind === 'value') return access.ruleOf(code);
  if (code !== 'title') return null;
  // The title is the text of a field and is hidden with it. Versions may have different ones: all of them must be readable.
  const versions = registry(ctx).byId.get(typeId)?.versions.values() ?? [];
  const codes = new Set([...versions].flatMap(({ titleField }) => (titleField === null ? [] : [titleField])));
  const rules = [...codes].map((titleField) => access.ruleOf(titleField));
  if (rules.includes(undefined)) return undefined;
  const conditions = rules.filter((rule) => rule !== null && rule !== undefined);
  return conditions.length === 0 ? null : { logic: 'AND', conditions };
}

/** The records on which the caller may read the title. */
export function titleRule(ctx: ReadContext, typeIds: readonly string[]): RecordRule {
  const rule = new Map<string, TypedCondition | null>();
  for (const typeId of typeIds) {
    const condition = readableRule(ctx, typeId, { kind: 'system', code: 'title' });
    if (condition !== undefined) rule.set(typeId, condition);
  }
  return rule;
}

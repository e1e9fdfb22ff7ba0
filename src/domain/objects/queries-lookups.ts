/** Reads for imports and exports. They apply the caller's rights on records and fields. */
import { operatorFits, parseCondition, type TypedCondition } from '../../lib/filter.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { compileCondition } from '../../platform/database/filter-sql.ts';
import {
  checkValue,
  conditionEnvironment,
  fieldResolver,
  type RecordType,
  registry,
  today,
  valueOfCell,
} from '../metadata/index.ts';
import type { WordMatch } from './queries.ts';
import { judge, type ObjectAnswer, project } from './record.ts';
import { listByValue, listPage, type PageEnd } from './store-lookups.ts';

/** Maximum number of values in one condition. */
const MOST_VALUES = 200;

/**
 * The environment in which the caller's own conditions are compiled. A field counts only on records where the caller may read
 * it.
 */
function callersEnvironment(ctx: ReadContext, type: RecordType) {
  const { actor, now } = ctx;
  const types = registry(ctx);
  const variables = { ...actor.variables, now, today: today(types, now) };
  const { titleField } = type.newest;
  return {
    ...conditionEnvironment(types, type.id, 'o', variables),
    visible: (code: string, field: { kind: 'value' | 'system' }) => {
      // The system field `title` is the text of the type's title field.
      const named = field.kind === 'system' && code === 'title' ? titleField : field.kind === 'value' ? code : null;
      return named === null ? null : actor.fieldVisible('o', type.id, named, now);
    },
  };
}

/**
 * Finds active records of the type that the caller may read and whose field equals one of the texts, written as in a cell
 * (docs/spec/import-export-bulk.md).
 *
 * @returns text → ids, only for texts with a match
 */
export async function findByField(
  ctx: ReadContext,
  type: RecordType,
  fieldCode: string,
  texts: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const field = type.newest.fields.get(fieldCode);
  const visible = ctx.actor.visible('o', 'read', ctx.now, [type.id]);
  if (field === undefined || !operatorFits('in', field.dataType)) return found;
  if (visible === null || !ctx.actor.mayEverRead(type.id, fieldCode)) return found;
  const element = { ...field, multiple: false };
  /** Stored value → the texts that denote it. */
  const wanted = new Map<string | number | boolean, string[]>();
  for (const text of new Set(texts)) {
    const checked = checkValue(element, valueOfCell(element, text), '');
    const stored = checked.ok ? (checked.stored as string | number | boolean | null) : null;
    if (stored === null || typeof stored === 'object') continue;
    wanted.set(stored, [...(wanted.get(stored) ?? []), text]);
  }
  const values = [...wanted.keys()];
  for (let from = 0; from < values.length; from += MOST_VALUES) {
    const condition = parseCondition(
      { field: fieldCode, operator: 'in', value: values.slice(from, from + MOST_VALUES) },
      { resolve: fieldResolver(type), variables: 'refused' },
    );
    const compiled = compileCondition(condition, callersEnvironment(ctx, type));
    for (const { id, value } of await listByValue(ctx, type.id, fieldCode, visible, compiled)) {
      for (const one of new Set(Array.isArray(value) ? value : [value])) {
        for (const text of wanted.get(one as string) ?? []) found.set(text, [...(found.get(text) ?? []), id]);
      }
    }
  }
  return found;
}

/** Selects the records of a page: active ones of the type that satisfy the caller's condition and match the words. */
export interface Wanted {
  type: RecordType;
  condition: TypedCondition | null;
  words: { matches: WordMatch; q: string } | null;
}

/** The end of a page: a record, or an offset among the matches of words. */
export type PageMark = PageEnd | number;

/**
 * A page of the records that the caller may read, newest first, through `project`.
 *
 * @param after the end of the previous page; absent for the first page
 * @returns the end of this page, undefined for the last one; a page of matches may hold fewer records than `limit`
 */
export async function readPage(
  ctx: ReadContext,
  { type, condition, words }: Wanted,
  after: PageMark | undefined,
  limit: number,
): Promise<{ objects: ObjectAnswer[]; end: PageMark | undefined }> {
  const visible = ctx.actor.visible('o', 'read', ctx.now, [type.id]);
  if (visible === null) return { objects: [], end: undefined };
  const compiled = condition === null ? null : compileCondition(condition, callersEnvironment(ctx, type));
  const page = { typeId: type.id, visible, condition: compiled, limit };
  if (words !== null) {
    const offset = typeof after === 'number' ? after : 0;
    const asked = { q: words.q, typeIds: [type.id], state: 'ACTIVE', limit, offset } as const;
    const ids = await words.matches(ctx, asked);
    const rows = ids.length === 0 ? [] : await listPage(ctx, { ...page, ids, after: undefined });
    const end = ids.length < limit ? undefined : offset + limit;
    return { objects: rows.map((row) => project(ctx, judge(ctx, row))), end };
  }
  const behind = typeof after === 'number' ? undefined : after;
  const rows = await listPage(ctx, { ...page, ids: undefined, after: behind });
  const last = rows.at(-1);
  return {
    objects: rows.map((row) => project(ctx, judge(ctx, row))),
    end: last === undefined || rows.length < limit ? undefined : { createdAt: last.createdAt, id: last.id },
  };
}

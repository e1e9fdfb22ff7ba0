/**
 * Pages of records as JSON text. If the caller may read the same fields on all records of each type, the statement that finds the
 * records decides everything: it has the row conditions and leaves out hidden fields. The text of the values then goes into the
 * answer as the database wrote it, which takes half of the time of parsing, projecting and writing it.
 */
import { pageOf, type Window } from '../../contract/paging.ts';
import { JsonText, parseStoredJson } from '../../lib/json.ts';
import type { ReadContext, TypeFieldAccess } from '../../platform/unit-of-work/context.ts';
import { type RecordType, registry } from '../metadata/index.ts';
import { answerOf, kindOf } from './record.ts';
import { type ListPage, listTexts, type TextRow } from './store.ts';

/** Longer pages are sent in parts, so they are made of objects (`http/json-chunks.ts`). In characters. */
const MAX_TEXT = 400_000;

/** Codes of the fields that are hidden on all records; null if every field is readable, also one added later. */
type Hidden = readonly string[] | null;

/** What an actor sees of the records of a type, if it is the same fields of all of them. */
interface Shown {
  type: RecordType;
  codes: ReadonlySet<string>;
  /** Undefined if the fields differ between records, or if the stored values are not those of answers. */
  hidden: Hidden | undefined;
}

/** Access of an actor to a type → what it shows in the configuration that it was last asked for. */
const SHOWN = new WeakMap<TypeFieldAccess, Shown>();

function shownOf(ctx: ReadContext, type: RecordType): Shown {
  const access = ctx.actor.fieldAccess(type.id);
  let shown = SHOWN.get(access);
  if (shown?.type !== type) SHOWN.set(access, (shown = findShown(ctx, type, access)));
  return shown;
}

function findShown(ctx: ReadContext, type: RecordType, access: TypeFieldAccess): Shown {
  const fields = [...type.versions.values()].flatMap((version) => [...version.fields.values()]);
  const codes = new Set(fields.map(({ code }) => code));
  // Numbers of `json` fields are written in another form than the database's.
  if (registry(ctx).storedCodes.has(type.id) || fields.some(({ dataType }) => dataType === 'json')) {
    return { type, codes, hidden: undefined };
  }
  // No field has this code: only a right to all fields covers it.
  if (access.canAlwaysRead('')) return { type, codes, hidden: null };
  const hidden = [...codes].filter((code) => !access.canAlwaysRead(code));
  return { type, codes, hidden: hidden.some((code) => access.canRead(code)) ? undefined : hidden };
}

/** The fields that are hidden on all records of all the types. */
function hiddenOf(ctx: ReadContext, types: readonly RecordType[]): Hidden | undefined {
  const shown = types.map((type) => shownOf(ctx, type));
  if (shown.every(({ hidden }) => hidden === null)) return null;
  const all = new Set(shown.flatMap(({ hidden }) => hidden ?? []));
  for (const { codes, hidden } of shown) {
    if (hidden === undefined) return undefined;
    for (const code of all) if (codes.has(code) && hidden?.includes(code) !== true) return undefined;
  }
  return [...all];
}

/**
 * A page of records of the types, newest first.
 *
 * @returns undefined if the page must be made record by record
 */
export async function listAsText(
  ctx: ReadContext,
  types: readonly RecordType[],
  page: ListPage,
  window: Window,
): Promise<JsonText | object | undefined> {
  // An explanation records the checks on each record.
  const hidden = ctx.actor.isTraced === true ? undefined : hiddenOf(ctx, types);
  if (hidden === undefined) return undefined;
  const found = await listTexts(ctx, page, hidden);
  if (found.length === 0 && hidden !== null) return undefined;
  const { rows, ...meta } = pageOf(found, window);
  const length = rows.reduce((sum, { values }) => sum + values.length, 0);
  const heads = rows.map((row) => headOf(ctx, row, hidden));
  if (length > MAX_TEXT) {
    return { rows: rows.map(({ values }, index) => ({ ...heads[index], values: parseStoredJson(values) })), ...meta };
  }
  let text = '';
  for (const [index, { values }] of rows.entries()) {
    text += `${index === 0 ? '' : ','}${JSON.stringify(heads[index]).slice(0, -1)},"values":${values}}`;
  }
  return new JsonText(`{"rows":[${text}],${JSON.stringify(meta).slice(1)}`);
}

/** What the answer contains besides the values. */
function headOf(ctx: ReadContext, row: TextRow, hidden: Hidden): object {
  const kind = kindOf(ctx, row);
  const { titleField } = kind.version;
  const isShown = titleField !== null && hidden?.includes(titleField) !== true;
  return answerOf(ctx, row, kind, { title: isShown ? row.title : null, values: undefined });
}

/**
 * Pages of records as JSON text. If the caller may read the same fields on all records of a type, the statement that finds the
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
const MOST_TEXT = 400_000;

/** The fields that are hidden on all records of a type; null if every field is readable, also one added later. */
type Hidden = readonly string[] | null;

/** Access of an actor → the type in one configuration, and its hidden fields for this actor. */
const HIDDEN = new WeakMap<TypeFieldAccess, { type: RecordType; hidden: Hidden | undefined }>();

/** Undefined if the readable fields differ between records, or if the stored values are not those of answers. */
function hiddenFields(ctx: ReadContext, type: RecordType): Hidden | undefined {
  const access = ctx.actor.fieldAccess(type.id);
  let known = HIDDEN.get(access);
  if (known?.type !== type) HIDDEN.set(access, (known = { type, hidden: findHidden(ctx, type, access) }));
  return known.hidden;
}

function findHidden(ctx: ReadContext, type: RecordType, access: TypeFieldAccess): Hidden | undefined {
  if (registry(ctx).storedCodes.has(type.id)) return undefined;
  const fields = [...type.versions.values()].flatMap((version) => [...version.fields.values()]);
  // Numbers of `json` fields are written in another form than the database's.
  if (fields.some(({ dataType }) => dataType === 'json')) return undefined;
  // No field has this code: only a right to all fields covers it.
  if (access.canAlwaysRead('')) return null;
  const codes = [...new Set(fields.map(({ code }) => code))].filter((code) => !access.canAlwaysRead(code));
  return codes.some((code) => access.canRead(code)) ? undefined : codes;
}

/**
 * A page of records of the type, newest first.
 *
 * @returns undefined if the page must be made record by record
 */
export async function listAsText(
  ctx: ReadContext,
  type: RecordType,
  page: ListPage,
  window: Window,
): Promise<JsonText | object | undefined> {
  // An explanation records the checks on each record.
  const hidden = ctx.actor.isTraced === true ? undefined : hiddenFields(ctx, type);
  if (hidden === undefined) return undefined;
  const found = await listTexts(ctx, page, hidden);
  if (found.length === 0 && hidden !== null) return undefined;
  const { rows, ...meta } = pageOf(found, window);
  const length = rows.reduce((sum, { values }) => sum + values.length, 0);
  const heads = rows.map((row) => headOf(ctx, row, hidden));
  if (length > MOST_TEXT) {
    return { rows: rows.map(({ values }, index) => ({ ...heads[index], values: parseStoredJson(values) })), ...meta };
  }
  const texts = rows.map(({ values }, index) => `${JSON.stringify(heads[index]).slice(0, -1)},"values":${values}}`);
  return new JsonText(`{"rows":[${texts.join()}],${JSON.stringify(meta).slice(1)}`);
}

/** What the answer contains besides the values. */
function headOf(ctx: ReadContext, row: TextRow, hidden: Hidden): object {
  const kind = kindOf(ctx, row);
  const { titleField } = kind.version;
  const isShown = titleField !== null && hidden?.includes(titleField) !== true;
  return answerOf(ctx, row, kind, { title: isShown ? row.title : null, values: undefined });
}

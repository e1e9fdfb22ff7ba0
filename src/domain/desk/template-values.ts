/** The values of a record that fill the placeholders of a text (docs/reference/macros.md#texts). */
import type { SystemName } from '../../lib/template.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { type FieldDefinition, idsIn, named, plainText, registry } from '../metadata/index.ts';
import { readableTitle, readableValues, type VisibleObject } from '../objects/index.ts';
import { getLabels } from './queries.ts';

/** A longer value is cut in a text. Without it, a template could make a text of any length. */
const LONGEST_VALUE = 1000;

/**
 * The texts of the named values, without those that the caller may not read. Ids are replaced by names that the caller may see.
 */
export async function templateValues(
  ctx: ReadContext,
  object: VisibleObject,
  names: ReadonlySet<string>,
): Promise<(name: string) => string> {
  const { row, version } = object;
  const values = readableValues(object);
  const fields = [...names].flatMap((name) => (Object.hasOwn(values, name) ? (version.fields.get(name) ?? []) : []));
  const ids = [...new Set(idsIn(fields, values).flatMap((one): string[] => one.ids))];
  const labels = new Map((ids.length === 0 ? [] : await getLabels(ctx, ids.join(','))).map((one) => [one.id, one]));
  const nameOf = (id: string): string => labels.get(id)?.name ?? labels.get(id)?.number ?? '';
  const instant = (at: string): string => {
    const { timezone, defaultLocale } = registry(ctx).settings;
    const format = { dateStyle: 'medium', timeStyle: 'short', timeZone: timezone } as const;
    return new Intl.DateTimeFormat([ctx.locale ?? defaultLocale, defaultLocale], format).format(new Date(at));
  };
  const system: Readonly<Record<SystemName, () => string>> = {
    number: () => row.number ?? '',
    title: () => readableTitle(object) ?? '',
    workflowState: () => (object.state === null ? '' : named(ctx, object.state.name)),
    createdAt: () => instant(row.createdAt),
    createdBy: () => row.createdByName ?? '',
    updatedAt: () => instant(row.updatedAt),
    updatedBy: () => row.updatedByName ?? '',
    $me: () => ctx.actor.displayName,
  };
  const textOf = (name: string): string => {
    const field = fields.find(({ code }) => code === name);
    if (field !== undefined) return fieldText(ctx, field, values[name], { nameOf, instant });
    return Object.hasOwn(system, name) ? system[name as SystemName]() : '';
  };
  // Several macros may name the same long text.
  const texts = new Map([...names].map((name) => [name, textOf(name)]));
  return (name) => texts.get(name) ?? '';
}

function fieldText(
  ctx: ReadContext,
  field: FieldDefinition,
  stored: unknown,
  words: { nameOf: (id: string) => string; instant: (at: string) => string },
): string {
  const list = Array.isArray(stored) && field.multiple ? stored : [stored];
  const text = (value: unknown): string => {
    if (idsIn([field], { [field.code]: value }).length > 0) return words.nameOf(String(value));
    if (field.dataType === 'datetime') return words.instant(String(value));
    const option = field.constraints.options?.find(({ code }) => code === value);
    if (option !== undefined) return named(ctx, option.name);
    return plainText({ ...field, multiple: false }, value);
  };
  // A character of two code units is not cut in half.
  return list
    .map(text)
    .join(', ')
    .slice(0, LONGEST_VALUE)
    .replace(/[\ud800-\udbff]$/, '');
}

/** From the answer of a report to what a tile shows: names of groups, formatted figures, series, and links to records. */
import { useMemo } from 'react';
import { type Measure, type Moment, momentGroup, type Step, SYSTEM_GROUPS } from '../../../../src/lib/report-query.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import type { Condition } from '../../filters/model.ts';
import { texts as listTexts } from '../../desk/list/texts.ts';
import { timeText } from '../../desk/list/time-left.tsx';
import { fromInput } from '../../i18n/clock.ts';
import { type Formats, useFormats } from '../../i18n/format.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import type { Query, Report } from './queries.ts';
import { measureTexts, texts } from './texts.ts';

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export interface Group {
  /** The values of `groupBy`. */
  key: readonly unknown[];
  names: readonly string[];
  values: readonly (number | null)[];
}

/** Search parameters of the list of records. */
interface RecordsSearch {
  type?: string;
  filter?: string;
  done?: string;
  slaPolicy?: string;
}

export interface Figures {
  query: Query;
  report: Report;
  groups: readonly Group[];
  /** Names of the measures. */
  measures: readonly string[];
  /** Names of `groupBy`. */
  heads: readonly string[];
  format: (measure: string, value: number | null) => string;
  /** The list of the records in a group. */
  records: (key: readonly unknown[]) => RecordsSearch;
}

/** A figure in the units of the measure: percent, a duration, or a number. */
function formatted(formats: Formats, language: string, measure: string, value: number | null): string {
  if (value === null) return '—';
  if (measure === 'slaMet') {
    return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(value);
  }
  return measure === 'count' || measure === 'reopened' ? formats.number(value) : formats.duration(value);
}

function stepName(formats: Formats, language: string, day: string, by: Step): string {
  const date = new Date(`${day}T00:00:00Z`);
  const options: Intl.DateTimeFormatOptions =
    by === 'month' ? { month: 'short', year: 'numeric' } : { day: 'numeric', month: 'short' };
  return Number.isNaN(date.getTime())
    ? formats.day(day)
    : new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' }).format(date);
}

/** The first day after the day, week or month that begins with `day`. */
function following(day: string, by: Step): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (by === 'month') date.setUTCMonth(date.getUTCMonth() + 1);
  else date.setUTCDate(date.getUTCDate() + (by === 'week' ? 7 : 1));
  return date.toISOString().slice(0, 10);
}

/** Most steps that are filled in between two groups. */
const MAX_STEPS = 400;

/** Adds the days, weeks or months without records, which the service leaves out. */
function withoutGaps(report: Report): Report['rows'] {
  const moment = momentGroup(report.groupBy[0] ?? '');
  if (moment === undefined || report.groupBy.length > 1 || report.rows.length === 0) return report.rows;
  const empty = report.measures.map((measure) => (measure === 'count' || measure === 'reopened' ? 0 : null));
  const rows: Report['rows'] = [];
  for (const row of report.rows) {
    const day = row.group[0] as string | null;
    if (day === null) continue;
    let last = rows.at(-1)?.group[0] as string | undefined;
    while (last !== undefined && following(last, moment.by) < day && rows.length < MAX_STEPS) {
      last = following(last, moment.by);
      rows.push({ group: [last], values: empty });
    }
    rows.push(row);
  }
  return rows;
}

/** What a list must show: conditions, and what only its own parameters express. */
interface Selected {
  conditions: Condition[];
  /** Half-open spans of the moment of being done, as instants; '' is open. */
  done: { from: string; until: string }[];
  notDone: boolean;
  slaPolicy?: string;
}

/** From the start of the day `from` until before the start of `until`, as instants; '' where a day is missing. */
function spanOf(from: string | undefined, until: string | undefined, zone: string): { from: string; until: string } {
  const instant = (day: string | undefined): string => (day === undefined ? '' : fromInput(`${day}T00:00`, zone));
  return { from: instant(from), until: instant(until) };
}

function addSpan(selected: Selected, of: Moment, span: { from: string; until: string }): void {
  if (of === 'doneAt') {
    selected.done.push(span);
    return;
  }
  const { from, until } = span;
  const before = (at: string): string => new Date(Date.parse(at) - 1).toISOString();
  if (from !== '') selected.conditions.push({ field: 'createdAt', operator: 'after', value: before(from) });
  if (until !== '') selected.conditions.push({ field: 'createdAt', operator: 'before', value: until });
}

/** Adds the condition for one value of a group. */
function addGroup(selected: Selected, name: string, value: unknown, zone: string): void {
  const moment = momentGroup(name);
  if (moment === undefined && name === 'slaPolicy') selected.slaPolicy = value === null ? '-' : String(value);
  else if (moment === undefined) {
    selected.conditions.push(
      value === null ? { field: name, operator: 'is-empty', value: true } : { field: name, operator: 'equals', value },
    );
  } else if (typeof value === 'string') {
    addSpan(selected, moment.of, spanOf(value, following(value, moment.by), zone));
  } else selected.notDone = true;
}

function addPeriod(selected: Selected, { period }: Query, zone: string): void {
  if (period === undefined) return;
  const of = period.of ?? 'createdAt';
  if (period.lastDays === undefined) {
    const until = period.to === undefined ? undefined : following(period.to, 'day');
    addSpan(selected, of, spanOf(period.from, until, zone));
    return;
  }
  const first = new Date(`${new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(new Date())}T00:00:00Z`);
  first.setUTCDate(first.getUTCDate() - period.lastDays + 1);
  addSpan(selected, of, spanOf(first.toISOString().slice(0, 10), undefined, zone));
}

/** The parameter `done` of lists; undefined if any record matches. */
function doneOf({ done, notDone }: Selected): string | undefined {
  if (notDone) return '-';
  if (done.length === 0) return undefined;
  const from =
    done
      .map((span) => span.from)
      .sort()
      .at(-1) ?? '';
  const until = done.flatMap((span) => (span.until === '' ? [] : [span.until])).sort()[0] ?? '';
  return `${from}..${until}`;
}

function recordsOf(query: Query, report: Report, key: readonly unknown[]): RecordsSearch {
  const selected: Selected = { conditions: [], done: [], notDone: false };
  addPeriod(selected, query, report.timeZone);
  for (const [index, name] of report.groupBy.entries()) {
    if (index < key.length) addGroup(selected, name, key[index], report.timeZone);
  }
  const { conditions, slaPolicy } = selected;
  if (query.filter !== undefined) conditions.push(query.filter as Condition);
  const [only, ...others] = query.types;
  if (others.length > 0) conditions.push({ field: 'typeCode', operator: 'in', value: query.types });
  const filter = conditions.length === 1 ? conditions[0] : { logic: 'AND', conditions };
  const done = doneOf(selected);
  return {
    ...(others.length === 0 && only !== undefined ? { type: only } : {}),
    ...(done === undefined ? {} : { done }),
    ...(slaPolicy === undefined ? {} : { slaPolicy }),
    ...(conditions.length === 0 ? {} : { filter: JSON.stringify(filter) }),
  };
}

/** The ids among the values, whose names the desk looks up. */
function idsOf(report: Report | undefined): string[] {
  return (report?.rows ?? []).flatMap(({ group }, row) =>
    row >= 200 ? [] : group.filter((value): value is string => typeof value === 'string' && ID.test(value)),
  );
}

/** @param nameOf the name of a field, by its code */
export function useFigures(
  query: Query,
  report: Report | undefined,
  nameOf: (code: string) => string,
): Figures | undefined {
  const t = useText(texts);
  const m = useText(measureTexts);
  const time = useText(listTexts);
  const language = useLanguage();
  const formats = useFormats();
  const labels = useLabels(useMemo(() => idsOf(report), [report]));
  return useMemo(() => {
    if (report === undefined) return undefined;
    const categories: Record<string, string> = { open: t.open, waiting: t.waiting, done: t.doneCategory };
    const valueName = (value: unknown, index: number): string => {
      const group = report.groupBy[index] ?? '';
      const moment = momentGroup(group);
      if (value === null) return t.empty;
      if (moment !== undefined) return stepName(formats, language, String(value), moment.by);
      if (typeof value === 'boolean') return value ? t.yes : t.no;
      const text = String(value);
      const known = report.names[index]?.[text] ?? (group === 'workflowCategory' ? categories[text] : undefined);
      return known ?? (ID.test(text) ? (labelText(labels.get(text)) ?? '…') : text);
    };
    return {
      query,
      report,
      groups: withoutGaps(report).map(({ group, values }) => ({ key: group, names: group.map(valueName), values })),
      measures: report.measures.map((measure) => m[measure as Measure] ?? measure),
      heads: report.groupBy.map((code) => headOf(t, code) ?? nameOf(code)),
      // Days of working time are not 24 hours long, so it is given in hours.
      format: (measure, value) =>
        query.calendar !== undefined && value !== null && measure.includes('.')
          ? timeText(value, true, time)
          : formatted(formats, language, measure, value),
      records: (key) => recordsOf(query, report, key),
    };
  }, [query, report, labels, formats, language, nameOf, t, m, time]);
}

/** The name of a group that is no field; undefined for a field. */
export function headOf(t: Readonly<Record<string, unknown>>, code: string): string | undefined {
  const moment = momentGroup(code);
  if (moment === undefined && code !== 'slaPolicy' && !SYSTEM_GROUPS.some((one) => one === code)) return undefined;
  const known = t[moment === undefined ? code : `${moment.of}${moment.by}`];
  return typeof known === 'string' ? known : undefined;
}

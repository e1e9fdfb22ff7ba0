/** Guesses the mapping of an import from the columns and first rows of a sample file. */
import type { DataType } from '../../api/fields.ts';

/** A possible target of a column. */
export interface TargetField {
  value: string;
  label: string;
  dataType?: DataType;
  options?: readonly { code: string; name: string }[];
  /** Codes of the record types that a reference may point to. */
  types?: readonly string[];
}

/** Words in both languages that mean the same field; the first is compared with the codes of fields, too. */
const SYNONYMS: readonly (readonly string[])[] = [
  [
    'title',
    'summary',
    'subject',
    'short description',
    'name',
    'тема',
    'заголовок',
    'название',
    'краткое описание',
    'наименование',
  ],
  ['description', 'details', 'body', 'text', 'описание', 'текст', 'подробности', 'содержание'],
  ['priority', 'приоритет', 'важность'],
  ['impact', 'влияние', 'воздействие'],
  ['urgency', 'срочность'],
  ['category', 'категория', 'рубрика'],
  [
    'requester',
    'caller',
    'caller id',
    'reporter',
    'opened by',
    'requested by',
    'заявитель',
    'инициатор',
    'автор',
    'обратился',
  ],
  ['assignee', 'assigned to', 'owner', 'исполнитель', 'ответственный', 'назначено'],
  ['assignmentGroup', 'assignment group', 'group', 'team', 'support group', 'группа', 'команда', 'рабочая группа'],
  ['location', 'site', 'office', 'место', 'расположение', 'офис', 'местоположение'],
  ['source', 'contact type', 'channel', 'источник', 'канал', 'способ обращения'],
  ['solution', 'resolution', 'resolution notes', 'close notes', 'решение', 'что сделано'],
  ['closeCode', 'close code', 'closed code', 'resolution code', 'код закрытия', 'чем закончилось'],
  ['resolvedAt', 'resolved at', 'resolved', 'решено', 'дата решения'],
  ['login', 'user', 'username', 'user name', 'account', 'логин', 'учетная запись'],
  ['displayName', 'full name', 'fio', 'фио', 'имя', 'сотрудник'],
  ['email', 'mail', 'e mail', 'почта', 'электронная почта', 'эл почта'],
  ['employeeId', 'employee number', 'personnel number', 'табельный номер'],
  ['timezone', 'time zone', 'часовой пояс'],
  ['locale', 'language', 'язык'],
  ['code', 'код'],
  ['parentId', 'parent', 'parent unit', 'родитель', 'вышестоящее подразделение'],
  ['managerUserId', 'manager', 'head', 'руководитель', 'начальник'],
  ['serialNumber', 'serial number', 'serial', 'серийный номер'],
  ['inventoryNumber', 'inventory number', 'asset tag', 'инвентарный номер'],
];

const IDENTIFIER =
  /(?:^|[\s_-])(?:id|key|number|no|num|номер|ключ|идентификатор)$|^(?:sr number|issue key|login|логин|code|код)$/iu;

/** Letters and digits of a name, without case: `assigned_to`, `Assigned To` and `assignedTo` are equal. */
function plain(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

const GROUPS = SYNONYMS.map((words) => new Set(words.map(plain)));

/** How well the column fits the field, from 0 to 100. */
function fit(column: string, { value, label }: TargetField): number {
  const [own, code, name] = [plain(column), plain(value), plain(label)];
  if (own === '') return 0;
  if (own === code) return 100;
  if (own === name) return 95;
  if (GROUPS.some((words) => words.has(own) && (words.has(code) || words.has(name)))) return 80;
  const contains = (a: string, b: string): boolean => b.length >= 5 && a.includes(b);
  return [code, name].some((word) => contains(own, word) || contains(word, own)) ? 50 : 0;
}

/** Column → field. Each field is taken by the column that fits it best. */
export function guessTargets(columns: readonly string[], fields: readonly TargetField[]): Map<string, TargetField> {
  const pairs = columns
    .flatMap((column) => fields.map((field) => ({ column, field, score: fit(column, field) })))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const found = new Map<string, TargetField>();
  const taken = new Set<string>();
  for (const { column, field } of pairs) {
    if (found.has(column) || taken.has(field.value)) continue;
    found.set(column, field);
    taken.add(field.value);
  }
  return found;
}

/** The column that identifies a row: one named so with distinct values, else the first. */
export function guessIdentifier(columns: readonly string[], rows: readonly Readonly<Record<string, string>>[]): string {
  const distinct = (column: string): boolean => new Set(rows.map((row) => row[column])).size === rows.length;
  return columns.find((column) => IDENTIFIER.test(column) && distinct(column)) ?? columns[0] ?? '';
}

/** Date formats that are recognised in samples, with the time after a blank. */
const DATES: readonly (readonly [RegExp, string])[] = [
  [/^\d{1,2}\.\d{1,2}\.\d{4}/, 'DD.MM.YYYY'],
  [/^(?:1[3-9]|2\d|3[01])\/\d{1,2}\/\d{4}/, 'D/M/YYYY'],
  [/^\d{1,2}\/(?:1[3-9]|2\d|3[01])\/\d{4}/, 'M/D/YYYY'],
  [/^\d{1,2}\/\d{1,2}\/\d{4}/, 'D/M/YYYY'],
  [/^\d{4}-\d{2}-\d{2}/, 'YYYY-MM-DD'],
];

function dateTransform(kind: 'date' | 'datetime', values: readonly string[]): string[] {
  if (values.length === 0) return [];
  // An instant in ISO 8601 needs no transform.
  if (kind === 'datetime' && values.every((value) => /T\d{2}:\d{2}/.test(value))) return [];
  if (kind === 'date' && values.every((value) => /^\d{4}-\d{2}-\d{2}$/.test(value))) return [];
  const format = DATES.find(([pattern]) => values.some((value) => pattern.test(value)))?.[1];
  if (format === undefined) return [];
  const time = values.some((value) => /\d:\d{2}:\d{2}$/.test(value))
    ? ' HH:mm:ss'
    : values.some((value) => /\d:\d{2}$/.test(value))
      ? ' HH:mm'
      : '';
  return [`${kind}:${format}${time}`];
}

/** Values of the sample → options of the same code or name; empty if all are codes already. */
function optionTransform(values: readonly string[], options: TargetField['options'] = []): string[] {
  if (values.every((value) => options.some(({ code }) => code === value))) return [];
  const pairs = [...new Set(values)].flatMap((value) => {
    const option = options.find(({ code, name }) => [code, name].some((one) => plain(one) === plain(value)));
    return option === undefined ? [] : [[value, option.code] as const];
  });
  return pairs.length === 0 ? [] : [`map:${JSON.stringify(Object.fromEntries(pairs))}`];
}

/** The transforms that values of the sample need for the field. `titles`: code of a record type → its title field. */
export function guessTransforms(
  field: TargetField,
  sample: readonly string[],
  titles: ReadonlyMap<string, string>,
): string[] {
  const values = sample.map((value) => value.trim()).filter((value) => value !== '');
  const spaces = sample.some((value) => value !== value.trim()) ? ['trim'] : [];
  switch (field.dataType) {
    case 'date':
    case 'datetime':
      return [...spaces, ...dateTransform(field.dataType, values)];
    case 'user':
      return [...spaces, 'user:login'];
    case 'group':
      return [...spaces, 'group:code'];
    case 'org-unit':
      return [...spaces, 'org-unit:code'];
    case 'enum':
      return [...spaces, ...optionTransform(values, field.options)];
    case 'reference': {
      const [type] = field.types ?? [];
      const title = type === undefined ? undefined : titles.get(type);
      return title === undefined ? spaces : [...spaces, `lookup:${type}.${title}`];
    }
    default:
      return spaces;
  }
}

/** ServiceNow incidents: the columns of their events as fields of a type, and the cells of an event as values. */
import { codeOf, type Row } from './sources.ts';

/** What a column is; everything else is a line of text. */
const KINDS: ReadonlyMap<string, 'integer' | 'boolean' | 'datetime' | 'level' | 'group'> = new Map([
  ...['reassignment_count', 'reopen_count', 'sys_mod_count'].map((name) => [name, 'integer'] as const),
  ...['active', 'made_sla', 'knowledge', 'u_priority_confirmation'].map((name) => [name, 'boolean'] as const),
  ...['opened_at', 'sys_created_at', 'sys_updated_at', 'resolved_at', 'closed_at'].map(
    (name) => [name, 'datetime'] as const,
  ),
  ...['impact', 'urgency', 'priority'].map((name) => [name, 'level'] as const),
  ['assignment_group', 'group'],
]);

export const COLUMNS = [
  ...[
    'number',
    'incident_state',
    'active',
    'reassignment_count',
    'reopen_count',
    'sys_mod_count',
    'made_sla',
    'caller_id',
  ],
  ...['opened_by', 'opened_at', 'sys_created_by', 'sys_created_at', 'sys_updated_by', 'sys_updated_at', 'contact_type'],
  ...[
    'location',
    'category',
    'subcategory',
    'u_symptom',
    'cmdb_ci',
    'impact',
    'urgency',
    'priority',
    'assignment_group',
  ],
  ...['assigned_to', 'knowledge', 'u_priority_confirmation', 'notify', 'problem_id', 'rfc', 'vendor', 'caused_by'],
  ...['closed_code', 'resolved_by', 'resolved_at', 'closed_at'],
] as const;

/** Records have a number of their own. */
export const fieldOf = (column: string): string => (column === 'number' ? 'sn_number' : column);

const NOTHING = '?';
const LEVELS = ['1', '2', '3', '4', '5'];

export function typeDefinition(): Record<string, unknown> {
  return {
    code: 'sn-incident',
    name: 'ServiceNow incident',
    title: 'sn_number',
    fields: COLUMNS.map((column) => {
      const code = fieldOf(column);
      const kind = KINDS.get(column);
      if (column === 'number')
        return { code, dataType: 'string', required: true, search: { text: true, filter: true } };
      if (column === 'opened_at') return { code, dataType: 'datetime', search: { filter: true } };
      if (kind === 'level') {
        return { code, dataType: 'enum', constraints: { options: LEVELS.map((level) => ({ code: `p${level}` })) } };
      }
      return { code, dataType: kind ?? 'string' };
    }),
  };
}

/** `?` is nothing, `3 - Moderate` is p3, `Group 56` is the group of that code, dates are of no zone and taken as UTC. */
function transformOf(column: string, groups: readonly string[]): string[] {
  const nothing = { [NOTHING]: null };
  switch (KINDS.get(column)) {
    case 'integer':
      return ['integer'];
    case 'boolean':
      return ['boolean'];
    case 'datetime':
      return [`map:${JSON.stringify(nothing)}`, 'datetime:D/M/YYYY HH:mm'];
    case 'level': {
      const names = ['High', 'Medium', 'Low', 'Critical', 'Moderate'];
      const levels = LEVELS.flatMap((level) => names.map((name) => [`${level} - ${name}`, `p${level}`]));
      return [`map:${JSON.stringify({ ...Object.fromEntries(levels), ...nothing })}`];
    }
    case 'group': {
      const codes = groups.map((name) => [name, codeOf('sn', name)]);
      return [`map:${JSON.stringify({ ...Object.fromEntries(codes), ...nothing })}`, 'group:code'];
    }
    default:
      return [`map:${JSON.stringify(nothing)}`];
  }
}

export function eventImport(groups: readonly string[]): Record<string, unknown> {
  return {
    code: 'sn-events',
    name: 'ServiceNow events',
    targetKind: 'object',
    targetType: 'sn-incident',
    format: 'CSV',
    mode: 'UPSERT',
    sourceCode: 'servicenow',
    resolver: { externalIdField: 'number' },
    mapping: COLUMNS.map((column) => ({
      source: column,
      target: fieldOf(column),
      transform: transformOf(column, groups),
    })),
  };
}

/** Our own export, imported again: every field from the column of its code, the record by its own id. */
export function ownImport(format: 'CSV' | 'JSON'): Record<string, unknown> {
  return {
    code: `own-${format.toLowerCase()}`,
    targetKind: 'object',
    targetType: 'sn-incident',
    format,
    mode: 'UPDATE_ONLY',
    sourceCode: 'own',
    resolver: { externalIdField: 'id' },
    mapping: COLUMNS.map((column) => ({
      source: format === 'JSON' ? `values.${fieldOf(column)}` : fieldOf(column),
      target: fieldOf(column),
    })),
  };
}

function instantOf(text: string): string {
  const found = /^(\d{1,2})\/(\d{1,2})\/(\d{4}) (\d{2}):(\d{2})$/.exec(text);
  if (found === null) throw new Error(`${text} is no date of this data set`);
  const [, day, month, year, hour, minute] = found.map(Number) as [number, number, number, number, number, number];
  return new Date(Date.UTC(year, month - 1, day, hour, minute)).toISOString();
}

/** The expected values of a row by field, computed independently of the service. */
export function expectedValues(row: Row, groupIds: ReadonlyMap<string, string>): Record<string, unknown> {
  const values: [string, unknown][] = [];
  for (const column of COLUMNS) {
    const text = row[column] ?? '';
    if (text === NOTHING || text === '') continue;
    const kind = KINDS.get(column);
    const value =
      kind === 'integer'
        ? Number(text)
        : kind === 'boolean'
          ? text === 'true'
          : kind === 'datetime'
            ? instantOf(text)
            : kind === 'level'
              ? `p${text[0]}`
              : kind === 'group'
                ? groupIds.get(codeOf('sn', text))
                : text;
    values.push([fieldOf(column), value]);
  }
  return Object.fromEntries(values);
}

/** The same as cells of our CSV. */
export function expectedCells(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    COLUMNS.map((column) => {
      const value = values[fieldOf(column)];
      return [fieldOf(column), value === undefined ? '' : String(value)];
    }),
  );
}

/** Expected results of successive imports of the events: created by the first, skipped if an event changes nothing. */
export function expectedVerdicts(
  events: readonly Row[],
  groupIds: ReadonlyMap<string, string>,
): { created: number; updated: number; skipped: number } {
  const stands = new Map<string, string>();
  const counts = { created: 0, updated: 0, skipped: 0 };
  for (const event of events) {
    const number = event['number'] ?? '';
    const said = JSON.stringify(expectedValues(event, groupIds));
    const before = stands.get(number);
    counts[before === undefined ? 'created' : before === said ? 'skipped' : 'updated']++;
    stands.set(number, said);
  }
  return counts;
}

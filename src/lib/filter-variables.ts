/** Variables of configuration: reading them in a condition, and what they stand for when it is judged (section 4). */
import type { DataType } from './data-types.ts';
import type { LiteralOperand, Operand, VariableName, VariableOperand, Variables } from './filter-types.ts';
import { canonicalDuration } from './filter-values.ts';

interface VariableRule {
  dataType: DataType;
  /** Stands for a list of values: only with `in`. */
  list: boolean;
}

const RULES: ReadonlyMap<string, VariableRule> = new Map([
  ['me', { dataType: 'user', list: false }],
  ['myGroups', { dataType: 'group', list: true }],
  ['myOrgUnit', { dataType: 'org-unit', list: false }],
  ['myOrgUnits', { dataType: 'org-unit', list: true }],
  ['now', { dataType: 'datetime', list: false }],
  ['today', { dataType: 'date', list: false }],
]);

/** Longest shift of `$now` and `$today`: keeps every result within the years that instants may have. */
const MOST_YEARS = 1000;

function shiftOf(name: string, sign: string, text: string): string | undefined {
  const duration = text.startsWith('P') ? canonicalDuration(text) : undefined;
  if (duration === undefined || (name === 'today' && duration.includes('T') && duration !== 'PT0S')) return undefined;
  try {
    const length = Temporal.Duration.from(duration);
    const epoch = Temporal.PlainDate.from('2000-01-01');
    if (Temporal.Duration.compare(length, { years: MOST_YEARS }, { relativeTo: epoch }) > 0) return undefined;
  } catch {
    return undefined;
  }
  return `${sign === '-' ? '-' : ''}${duration}`;
}

/** The variable that `text` (`$me`, `$now-P7D`) names, or `undefined` if there is none such. */
export function readVariable(text: string): VariableOperand | undefined {
  const [, name = '', sign, duration = ''] = /^\$([a-zA-Z]+)(?:([+-])(.*))?$/s.exec(text) ?? [];
  if (!RULES.has(name)) return undefined;
  const variable = name as VariableName;
  if (sign === undefined) return { variable };
  if (name !== 'now' && name !== 'today') return undefined;
  const shift = shiftOf(name, sign, duration);
  return shift === undefined ? undefined : { variable, shift };
}

/** Data type of what the variable stands for, and whether it is a list. */
export function variableRule(operand: VariableOperand): VariableRule {
  return RULES.get(operand.variable) as VariableRule;
}

export function isVariable(operand: Operand): operand is VariableOperand {
  return 'variable' in operand;
}

function shifted(operand: VariableOperand, variables: Variables): string {
  const at = operand.variable === 'now' ? variables.now : variables.today;
  if (operand.shift === undefined) return at;
  const shift = Temporal.Duration.from(operand.shift);
  if (operand.variable === 'today') return Temporal.PlainDate.from(at).add(shift).toString();
  // Calendar durations need a calendar day: that of UTC, which every server shares.
  const moved = Temporal.Instant.from(at).toZonedDateTimeISO('UTC').add(shift);
  return moved.toInstant().toString({ smallestUnit: 'millisecond' });
}

/** The values that an operand stands for now: one, many, or none where the person has none. */
export function resolveOperand(operand: Operand, variables: Variables): readonly LiteralOperand['literal'][] {
  if (!isVariable(operand)) return [operand.literal];
  switch (operand.variable) {
    case 'me':
      return [variables.me];
    case 'myGroups':
      return variables.groups;
    case 'myOrgUnit':
      return variables.orgUnit === null ? [] : [variables.orgUnit];
    case 'myOrgUnits':
      return variables.orgUnits;
    case 'now':
    case 'today':
      return [shifted(operand, variables)];
  }
}

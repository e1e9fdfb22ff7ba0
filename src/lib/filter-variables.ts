/**
 * Variables of the condition language: parsing them in a condition and resolving them on evaluation
 * (docs/spec/search.md#condition-language).
 */
import { canonicalDuration, type DataType, type VariableName, VARIABLES } from './data-types/index.ts';
import type { LiteralOperand, Operand, VariableOperand, Variables } from './filter-types.ts';

/** Maximum shift of `$now` and `$today`, in years. Keeps every result within the valid range of years. */
const MAX_YEARS = 1000;

function shiftOf(name: string, sign: string, text: string): string | undefined {
  const duration = text.startsWith('P') ? canonicalDuration(text) : undefined;
  if (duration === undefined || (name === 'today' && duration.includes('T') && duration !== 'PT0S')) return undefined;
  try {
    const length = Temporal.Duration.from(duration);
    const epoch = Temporal.PlainDate.from('2000-01-01');
    if (Temporal.Duration.compare(length, { years: MAX_YEARS }, { relativeTo: epoch }) > 0) return undefined;
  } catch {
    return undefined;
  }
  return `${sign === '-' ? '-' : ''}${duration}`;
}

/** Parses a variable such as `$me` or `$now-P7D`; `undefined` if there is no such variable. */
export function readVariable(text: string): VariableOperand | undefined {
  const [, name = '', sign, duration = ''] = /^\$([a-zA-Z]+)(?:([+-])(.*))?$/s.exec(text) ?? [];
  if (!Object.hasOwn(VARIABLES, name)) return undefined;
  const variable = name as VariableName;
  if (sign === undefined) return { variable };
  if (name !== 'now' && name !== 'today') return undefined;
  const shift = shiftOf(name, sign, duration);
  return shift === undefined ? undefined : { variable, shift };
}

/** Data type of the variable, and whether it is a list. */
export function variableRule(operand: VariableOperand): { dataType: DataType; list: boolean } {
  return VARIABLES[operand.variable];
}

export function isVariable(operand: Operand): operand is VariableOperand {
  return 'variable' in operand;
}

function shifted(operand: VariableOperand, variables: Variables): string {
  const at = operand.variable === 'now' ? variables.now : variables.today;
  if (operand.shift === undefined) return at;
  const shift = Temporal.Duration.from(operand.shift);
  if (operand.variable === 'today') return Temporal.PlainDate.from(at).add(shift).toString();
  // Calendar durations need a calendar day. UTC is used because all servers share it.
  const moved = Temporal.Instant.from(at).toZonedDateTimeISO('UTC').add(shift);
  return moved.toInstant().toString({ smallestUnit: 'millisecond' });
}

/** The current values of an operand: one, several, or none if the user has no value for it. */
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

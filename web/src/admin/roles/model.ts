/** A role parsed from its text. */
import { keysOf, useText } from '../../i18n/text.ts';
import type { ItemValue } from '../config/yaml-text.ts';
import { actionTexts, rightTexts } from './texts.ts';

export const ACTIONS = keysOf(actionTexts);

export const RIGHTS = keysOf(rightTexts);

export type Names = '*' | readonly string[];

/** A grant, from the text of a role or from the service's explanation. */
export interface Grant {
  type: string;
  where?: unknown;
  actions: readonly string[];
  read: Names;
  write: Names;
  transitions: Names;
}

function names(value: unknown): Names {
  if (value === '*') return '*';
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

export function grantsOf(item: ItemValue): Grant[] {
  const records = item['records'];
  if (!Array.isArray(records)) return [];
  return records.map((record: Record<string, unknown>) => {
    const fields = record['fields'] as { read?: unknown; write?: unknown } | undefined;
    return {
      type: String(record['type'] ?? ''),
      ...(record['where'] === undefined ? {} : { where: record['where'] }),
      actions: names(record['actions']) === '*' ? [] : (names(record['actions']) as string[]),
      read: names(fields?.read),
      write: names(fields?.write),
      transitions: names(record['transitions']),
    };
  });
}

export function rightsOf(item: ItemValue): string[] {
  const rights = item['rights'];
  return Array.isArray(rights) ? rights.filter((one): one is string => typeof one === 'string') : [];
}

/** Returns functions that name actions and global rights; an unknown code is shown as it is. */
export function useRightWords(): { action: (code: string) => string; right: (code: string) => string } {
  const actions: Readonly<Record<string, string>> = useText(actionTexts);
  const rights: Readonly<Record<string, string>> = useText(rightTexts);
  return { action: (code) => actions[code] ?? code, right: (code) => rights[code] ?? code };
}

const OPERATORS: Readonly<Record<string, string>> = {
  equals: '=',
  'not-equals': '≠',
  in: '∈',
  contains: '∋',
  before: '<',
  after: '>',
};

/** A condition in one line, shortened. */
export function conditionLine(condition: unknown): string {
  if (typeof condition !== 'object' || condition === null) return '';
  const group = condition as {
    logic?: string;
    conditions?: unknown[];
    field?: string;
    operator?: string;
    value?: unknown;
  };
  if (Array.isArray(group.conditions)) {
    const parts = group.conditions.map((one) => conditionLine(one));
    return `(${parts.join(group.logic === 'OR' ? ' | ' : ' & ')})`;
  }
  const value = Array.isArray(group.value) ? group.value.join(', ') : String(group.value ?? '');
  return `${group.field} ${OPERATORS[group.operator ?? ''] ?? group.operator} ${value}`.trim();
}

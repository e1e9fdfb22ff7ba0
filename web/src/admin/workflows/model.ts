/** A workflow parsed from its text, and the layout of its graph. */
import type { Coded } from '../config/codes.ts';
import type { ItemValue } from '../config/yaml-text.ts';

export type Category = 'open' | 'waiting' | 'done';

export interface StateItem extends Coded {
  category: Category;
}

export interface TransitionItem extends Coded {
  from: '*' | string[];
  to: string;
  condition?: unknown;
  fields?: { code: string; required?: boolean }[];
  set?: Record<string, unknown>;
}

function isCoded(value: unknown): value is { code: string } {
  return typeof value === 'object' && value !== null && typeof (value as { code?: unknown }).code === 'string';
}

export function statesOf(item: ItemValue): StateItem[] {
  const states = item['states'];
  return Array.isArray(states) ? (states.filter(isCoded) as StateItem[]) : [];
}

export function transitionsOf(item: ItemValue): TransitionItem[] {
  const transitions = item['transitions'];
  return Array.isArray(transitions) ? (transitions.filter(isCoded) as TransitionItem[]) : [];
}

export function sourcesOf(transition: TransitionItem): readonly string[] {
  return Array.isArray(transition.from) ? transition.from : [];
}

/** State → column: the number of transitions from the initial state. Unreachable states are last. */
export function columnsOf(
  states: readonly StateItem[],
  transitions: readonly TransitionItem[],
  initial: string,
): ReadonlyMap<string, number> {
  const columns = new Map<string, number>([[initial, 0]]);
  for (const [code, column] of columns) {
    for (const transition of transitions) {
      if (sourcesOf(transition).includes(code) && !columns.has(transition.to)) columns.set(transition.to, column + 1);
    }
  }
  const last = Math.max(...columns.values()) + 1;
  return new Map(states.map(({ code }) => [code, columns.get(code) ?? last]));
}

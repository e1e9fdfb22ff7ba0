/** Pure decisions about rows: which of them go together, and how a refusal reads in a row's result. */
import type { Fault, FaultDetail } from '../../lib/fault.ts';

/** What a fault says in the result of a row: its places, or itself. Paths point into the values. */
export function faultErrors(fault: Fault): FaultDetail[] {
  const { code, message, details } = fault;
  if (!Array.isArray(details) || details.length === 0) return [{ path: '', code, message }];
  return details.map((detail) => ({ ...detail, path: detail.path.replace(/^\/changes(?=\/|$)/, '/values') }));
}

interface Named {
  row: number;
  size: number;
  externalId: string | null | undefined;
}

/**
 * The next rows that may share a unit: at most `most.rows`, of at most `most.size` in all unless one alone is larger; no external
 * id twice, since a later row works on what the earlier left. With `overtaking`, rows of other external ids go before one that
 * has to wait; else the group ends there.
 */
export function nextGroup<T extends Named>(
  waiting: readonly T[],
  most: { rows: number; size: number },
  overtaking: boolean,
): { group: T[]; rest: T[] } {
  const group: T[] = [];
  const rest: T[] = [];
  const seen = new Set<string>();
  let open = true;
  let size = 0;
  for (const one of waiting) {
    const again = typeof one.externalId === 'string' && seen.has(one.externalId);
    if (again && !overtaking) open = false;
    const full = group.length > 0 && (group.length === most.rows || size + one.size > most.size);
    // What comes behind a full group waits, whatever its size: rows keep their order.
    if (full) open = false;
    if (!open || again) rest.push(one);
    else {
      group.push(one);
      size += one.size;
    }
    if (typeof one.externalId === 'string') seen.add(one.externalId);
  }
  return { group, rest };
}

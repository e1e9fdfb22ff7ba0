/** Pure rules about rows: how they are grouped, and how errors appear in results. */
import type { Fault, FaultDetail } from '../../lib/fault.ts';

/** The errors of a fault for the result of a row: its details, or else the fault itself. Paths refer to the values. */
export function faultErrors(fault: Fault): FaultDetail[] {
  const { code, message, reason, params, details } = fault;
  if (!Array.isArray(details) || details.length === 0) {
    return [{ path: '', code, message, reason, ...(params === undefined ? {} : { params }) }];
  }
  return details.map((detail) => ({ ...detail, path: detail.path.replace(/^\/changes(?=\/|$)/, '/values') }));
}

interface Named {
  row: number;
  size: number;
  externalId: string | null | undefined;
}

/**
 * The next rows that may share a transaction: at most `most.rows`, with a total size of at most `most.size` unless the first
 * row exceeds it. External ids are distinct, since a later row needs the result of the earlier one. With `overtaking`, rows
 * with other external ids may pass a row that has to wait; otherwise the group ends there.
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
    // All rows after a full group wait, regardless of their size, so that the order is kept.
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

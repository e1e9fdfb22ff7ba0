/** Pending work of the field index reconciler (docs/spec/configuration.md#bundle). */
import { type PendingIndex, pendingFieldIndexes } from '../configuration/field-indexes.ts';
import { ownFieldView } from '../domain/access/index.ts';
import { registry } from '../domain/metadata/index.ts';
import type { Tool } from './service.ts';

const MOST_NAMED = 5;

export async function pendingIndexes({ db, caller }: Tool): Promise<PendingIndex[]> {
  return await pendingFieldIndexes(db, registry(caller), caller.config.get(ownFieldView));
}

export function saysPending(pending: readonly PendingIndex[]): string {
  const named = pending
    .slice(0, MOST_NAMED)
    .map(({ action, name, type, field }) => (action === 'drop' ? `drop ${name}` : `${type}.${field}`));
  const more = pending.length > named.length ? ', …' : '';
  return `${pending.length} field indexes pending (${named.join(', ')}${more}); a running service builds them`;
}

/** Reads of integrations and their runs. They need `integration.manage`. */
import { Fault, type ContractDetail } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { loadItems } from '../../configuration/store.ts';
import { withoutHiddenIds } from '../comments/index.ts';
import type { CompiledIntegration, IntegrationDefinition } from './registry.ts';
import { listRuns as listRows, type RunStatus } from './store.ts';
import type { ItemState } from '../../contract/state.ts';

export const RIGHT = 'integration.manage';
export const SECTION = 'integrations';

export interface IntegrationAnswer {
  id: string;
  code: string;
  type: string;
  executionPrincipalId: string | null;
  enabled: boolean;
  config: IntegrationDefinition['config'];
  state: ItemState;
}

export function integrationAnswer(id: string, state: ItemState, compiled: CompiledIntegration): IntegrationAnswer {
  const { code, type, executionPrincipalId, enabled, typeId, config } = compiled;
  return {
    id,
    code,
    type,
    executionPrincipalId,
    enabled,
    config: typeId === null ? config : { ...config, typeDefinitionId: typeId },
    state,
  };
}

/** Lists all integrations by code, including archived ones. @throws Fault RIGHT_MISSING */
export async function listIntegrations(ctx: ReadContext): Promise<IntegrationAnswer[]> {
  ctx.actor.require(RIGHT);
  const items = await loadItems(ctx, SECTION);
  return items.map(({ id, state, compiled }) => integrationAnswer(id, state, compiled as CompiledIntegration));
}

export interface RunAnswer {
  id: string;
  integrationId: string;
  at: string;
  command: string;
  status: RunStatus;
  objectId: string | null;
  commentId: string | null;
  owner: { id: string; displayName: string } | null;
  keyId: string | null;
  correlationId: string;
  error: { code: string; message: string; details: ContractDetail[] | Record<string, unknown> } | null;
}

/**
 * The last 100 calls, newest first, with the reason of each failure. Ids of records and comments that the caller may not read
 * are null; of a call that made a hidden comment, the id of the record is, too.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND
 */
export async function listRuns(ctx: ReadContext, id: string, status?: RunStatus): Promise<RunAnswer[]> {
  ctx.actor.require(RIGHT);
  if ((await loadItems(ctx, SECTION)).every((item) => item.id !== id)) throw noIntegration();
  const rows = await listRows(ctx, id, status);
  return (await withoutHiddenIds(ctx, rows)).map(({ ownerId, ownerName, ...row }) => ({
    ...row,
    owner: ownerId === null ? null : { id: ownerId, displayName: ownerName ?? '' },
  }));
}

export function noIntegration(): Fault {
  return new Fault('NOT_FOUND', 'There is no such integration.');
}
